# One job that takes 3,000 MB: more than profiles/slurm gives it at first, less than it gives at the second attempt.
rule all:
    default_target: True
    input:
        "results/greedy/done",


rule greedy:
    output:
        "results/greedy/done",
    log:
        "results/greedy/log",
    shell:
        """
        python3 -c 'import time; held = b"x" * (3000 << 20); time.sleep(5); print(len(held))' >{output} 2>{log}
        """
