# Needs: a trained model. Makes: the model after an attack on its weights, e<epoch>/<attack>/model.json.
WEIGHT_ATTACKS = [
    n for n, a in CONFIG.attacks.items() if declared(f"unlearning.attacks.{a.attack}", "KIND") == "weights"
]


rule attack_weights:
    input:
        unpack(weights_attack_inputs),
    output:
        model="results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/model.json",
        weights=directory(
            "results/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}/e{epoch}/{attack}/weights"
        ),
    log:
        "results/logs/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/s{seed}-e{epoch}-{attack}-weights.log",
    benchmark:
        "results/benchmarks/runs/{benchmark}/{base_model}/{setting}/{split}/{method}/attack_weights/s{seed}-e{epoch}-{attack}.tsv"
    wildcard_constraints:
        attack=r"({0})(\+({0}))*".format("|".join(WEIGHT_ATTACKS) or "none"),
    conda:
        "../envs/environment.yaml"
    threads: CONFIG.threads.train
    resources:
        gpu=min(CONFIG.gpus.train, 1),
        mem_mb=memory("adjust"),
        runtime=minutes("adjust"),
    params:
        job=lambda w: job(
            "attack_weights.py",
            [f"unlearning.attacks.{weights_attack(w).attack}"],
            attack=weights_attack(w).attack,
            settings=attack_params(w.attack.split("+")[-1]),
            **weights_attack_running(w),
        ),
    message:
        "Attack {wildcards.attack} on the weights of {wildcards.method} ({wildcards.benchmark})"
    script:
        "../workflow/scripts/attack_weights.py"
