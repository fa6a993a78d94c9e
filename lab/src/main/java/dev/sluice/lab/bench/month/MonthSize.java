package dev.sluice.lab.bench.month;

/**
 * How large a simulated month is. Queues stand in trees; each tree has teams, which are cohorts.
 *
 * @param seed what all randomness comes from
 * @param days how many days jobs arrive
 * @param jobs how many jobs arrive in that time
 * @param trees how many trees of cohorts there are
 * @param teams how many teams a tree has
 * @param queues how many ClusterQueues a team has
 * @param changesPerDay how often a day something is declared anew
 * @param load what jobs need of the nominal quota on average
 */
record MonthSize(
    long seed,
    int days,
    int jobs,
    int trees,
    int teams,
    int queues,
    int changesPerDay,
    double load) {

  /** A month of 1,000 queues and a million jobs. */
  static final MonthSize WHOLE = new MonthSize(1, 30, 1_000_000, 100, 5, 2, 24, 0.8);

  MonthSize {
    if (days < 1 || jobs < 1 || trees < 1 || teams < 1 || queues < 1 || changesPerDay < 0) {
      throw new IllegalArgumentException("days, jobs, trees, teams and queues must be 1 or more");
    }
  }

  /** Other jobs in other days, and as many trees that each queue has about as many jobs a day. */
  MonthSize with(int otherJobs, int otherDays, long otherSeed) {
    double busier = ((double) otherJobs / otherDays) / ((double) jobs / days);
    return new MonthSize(
        otherSeed,
        otherDays,
        otherJobs,
        atLeastOne(trees * busier),
        teams,
        queues,
        changesPerDay,
        load);
  }

  /** The same with other quotas. */
  MonthSize withLoad(double other) {
    return new MonthSize(seed, days, jobs, trees, teams, queues, changesPerDay, other);
  }

  /** As many queues, with so many in each team: wider trees, and fewer of them. */
  MonthSize withQueuesPerTeam(int number) {
    int fewer = atLeastOne((double) trees * queues / number);
    return new MonthSize(seed, days, jobs, fewer, teams, number, changesPerDay, load);
  }

  private static int atLeastOne(double number) {
    return (int) Math.max(1, Math.round(number));
  }

  int allTeams() {
    return trees * teams;
  }

  int allQueues() {
    return trees * teams * queues;
  }

  long hours() {
    return 24L * days;
  }
}
