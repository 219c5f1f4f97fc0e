"""Random cases that try to break calibrant: each one is drawn from its number alone.

``python -m tools.torture --cases 1000`` runs the cases 0 to 999 and prints what was checked;
``--only 123`` repeats case 123.
"""
