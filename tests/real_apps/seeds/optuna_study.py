"""Run by .venv-apps: an Optuna database with one study of three trials. The argument is its URL."""

import sys

import optuna
from optuna.distributions import FloatDistribution, IntDistribution

DISTRIBUTIONS = {"depth": FloatDistribution(0, 10), "width": IntDistribution(1, 5)}

study = optuna.create_study(storage=sys.argv[1], study_name="harbour", direction="minimize")
for depth, width in ((1.5, 2), (0.5, 3), (4.0, 1)):
    study.add_trial(
        optuna.trial.create_trial(
            params={"depth": depth, "width": width}, distributions=DISTRIBUTIONS, value=depth * width
        )
    )
