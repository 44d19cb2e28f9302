"""python validate.py DUMP SHORTENED: five-fold cross-validation by domain, each page judged by a model that saw none of its domain."""
import sys
from collections import defaultdict

import numpy

from common import domains, f1, folds, labels, read, train, weights

dump, shortened = sys.argv[1:3]
pages, rows, _ = read(dump)
more, more_rows, _ = read(shortened)
wanted = numpy.array([one for page in pages for one in labels(page)])
more_wanted = numpy.array([one for page in more for one in labels(page)])
weight, more_weight = weights(pages), weights(more)
hosts, more_hosts = domains(pages), domains(more)
predicted = numpy.zeros(len(wanted))
for known, unknown in folds(pages):
    also = ~numpy.isin(more_hosts, numpy.unique(hosts[unknown]))
    booster = train(numpy.vstack([rows[known], more_rows[also]]),
                    numpy.concatenate([wanted[known], more_wanted[also]]),
                    numpy.concatenate([weight[known], more_weight[also]]))
    predicted[unknown] = booster.predict(rows[unknown])
predicted.tofile(f"{dump}.predicted.f64")
