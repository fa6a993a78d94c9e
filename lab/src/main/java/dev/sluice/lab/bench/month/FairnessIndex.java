package dev.sluice.lab.bench.month;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * How evenly the teams of each tree use what they share. Jain's index over the teams that have jobs
 * waiting, of what each uses in relation to its own quota: 1 if all use the same multiple, towards
 * 1/n if one of n uses all. The mean over the trees in which at least two teams have waited since
 * the last sample; 1 if there is none.
 */
final class FairnessIndex {

  private final List<DeclaredQueue> queues;
  private final MonthLedger ledger;
  private final int teamsPerTree;
  private final double[] used;
  private final double[] quota;
  private boolean[] waited;
  private double use;
  private double index = 1;

  FairnessIndex(List<DeclaredQueue> queues, MonthLedger ledger, MonthSize size) {
    this.queues = queues;
    this.ledger = ledger;
    this.teamsPerTree = size.teams();
    this.used = new double[size.allTeams()];
    this.quota = new double[size.allTeams()];
    this.waited = new boolean[size.allTeams()];
  }

  /** Takes a sample. */
  void sample(Collection<SimulatedJob> live) {
    Arrays.fill(used, 0);
    Arrays.fill(quota, 0);
    for (int i = 0; i < queues.size(); i++) {
      used[queues.get(i).team] += ledger.cpuOf(i);
      quota[queues.get(i).team] += ledger.quotaOf(i);
    }
    boolean[] waits = new boolean[used.length];
    for (SimulatedJob job : live) {
      if (job.phase == SimulatedJob.Phase.PENDING) {
        waits[queues.get(job.submission.queue()).team] = true;
      }
    }
    use = Arrays.stream(used).sum() / Math.max(1, Arrays.stream(quota).sum());
    double sum = 0;
    int trees = 0;
    for (int first = 0; first < used.length; first += teamsPerTree) {
      double ofTree = jain(first, waits);
      if (ofTree >= 0) {
        sum += ofTree;
        trees++;
      }
    }
    index = trees == 0 ? 1 : sum / trees;
    waited = waits;
  }

  /** The index of one tree; negative if fewer than two teams waited. */
  private double jain(int first, boolean[] waits) {
    double sum = 0;
    double squares = 0;
    int teams = 0;
    for (int team = first; team < first + teamsPerTree; team++) {
      if (waits[team] && waited[team] && quota[team] > 0) {
        double ratio = used[team] / quota[team];
        sum += ratio;
        squares += ratio * ratio;
        teams++;
      }
    }
    return teams < 2 || squares == 0 ? -1 : sum * sum / (teams * squares);
  }

  /** The part of all quota that is in use. */
  double use() {
    return use;
  }

  /** The index of the last sample. */
  double index() {
    return index;
  }
}
