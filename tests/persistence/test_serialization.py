"""Files whose parts would run code if skops were told to build them."""

import itertools
import json
import sys
import warnings

import pytest
import skops.io

from calibrant import load

ids = itertools.count(1)


def node(loader, module, name, **content):
    described = {"__loader__": loader, "__module__": module, "__class__": name}
    return described | {"__id__": next(ids)} | content


def function(module, name):
    first_protocol = {"module_path": module, "function": name}
    return node("FunctionNode", module, name, content=first_protocol)


def plain(value):
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def arguments(*values):
    return node("TupleNode", "builtins", "tuple", content=[plain(value) for value in values])


def malicious_nodes(marker):
    path = str(marker)
    empty = node(
        "DictNode",
        "builtins",
        "dict",
        content={},
        key_types=node("ListNode", "builtins", "list", content=[]),
    )
    return {
        "a function": function("os", "system"),
        "a constructor with arguments": node(
            "ConstructorFromReduceNode", "os", "mkdir", content=arguments(path)
        ),
        "a partial call": node(
            "PartialNode",
            "functools",
            "partial",
            content={
                "func": function("os", "mkdir"),
                "args": arguments(path),
                "kwds": empty,
                "namespace": plain(None),
            },
        ),
        "a method caller": node(
            "OperatorFuncNode", "operator", "methodcaller", attrs=arguments("mkdir", path)
        ),
        "a type": node("TypeNode", "subprocess", "Popen"),
        "an object": node("ObjectNode", "subprocess", "Popen", content=empty),
        "a method of an allowed type": node(
            "MethodNode",
            "calibrant.classifier",
            "CalibratedClassifier",
            content={
                "func": "fit",
                "obj": node("ObjectNode", "calibrant.classifier", "CalibratedClassifier"),
            },
        ),
        "a list of another class": node(
            "ListNode", "subprocess", "Popen", content=[plain("mkdir"), plain(path)]
        ),
        "an array of another class": node(
            "NdArrayNode",
            "subprocess",
            "Popen",
            type="json",
            content=[plain("mkdir")],
            shape=arguments(1),
        ),
        "a loss of another class": node(
            "LossNode",
            "subprocess",
            "Popen",
            content=empty,
            __reduce__={"args": arguments(f"mkdir {path}")},
        ),
    }


@pytest.fixture
def plant(rewrite):
    """Put a node in place of the whole model, or of its estimator."""

    def plant(path, bomb, *, protocol=2, at_root=False):
        def change(members):
            schema = json.loads(members["schema.json"])
            if at_root:
                schema = bomb | {"_skops_version": schema["_skops_version"]}
            else:
                schema["content"]["content"]["estimator"] = bomb
            return members | {"schema.json": json.dumps(schema | {"protocol": protocol}).encode()}

        rewrite(path, change)

    return plant


@pytest.mark.parametrize("protocol", [0, 1, 2])
@pytest.mark.parametrize("name", malicious_nodes("x"))
@pytest.mark.parametrize("at_root", [True, False], ids=["at the root", "inside"])
def test_malicious_files_are_refused_and_not_run(saved, tmp_path, plant, name, protocol, at_root):
    marker = tmp_path / "was run"
    plant(saved, malicious_nodes(marker)[name], protocol=protocol, at_root=at_root)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="damaged or has been changed") as raised:
            load(saved)
    assert "\n" not in str(raised.value)
    assert not marker.exists()


def test_malicious_files_would_run_if_their_types_were_allowed(saved, tmp_path, plant):
    marker = tmp_path / "was run"
    plant(saved, malicious_nodes(marker)["a constructor with arguments"], at_root=True)
    skops.io.loads(saved.read_bytes(), trusted=["os.mkdir"])
    assert marker.exists()


def test_refused_types_are_named(saved, plant):
    plant(saved, function("os", "system"))
    with pytest.raises(ValueError, match=r"estimator is os\.system, which model files cannot"):
        load(saved)


def test_without_skops_the_error_names_the_package_to_install(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[cli\]'"):
        load(saved)
