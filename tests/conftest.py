"""Order: the file that runs the workflow first, so that the short tests run beside it on the other worker."""


def pytest_collection_modifyitems(items):
    """Move the tests of test_workflow.py to the front, in their own order."""
    items.sort(key=lambda item: item.path.name != "test_workflow.py")
