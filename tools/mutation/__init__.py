"""Mutation testing: whether the tests of the numeric core notice that one operation changes.

``make mutants`` makes one small change at a time to a module and runs the tests of that module.
A change that no test notices is a survivor. `targets.toml` lists the modules with their tests, and
`survivors.toml` explains the survivors that change no result.
"""
