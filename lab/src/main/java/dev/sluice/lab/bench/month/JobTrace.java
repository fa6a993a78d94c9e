package dev.sluice.lab.bench.month;

import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.trace.TraceJob;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/**
 * A made-up trace of jobs: more by day than by night, more on workdays than at weekends, for each
 * team in its own time zone. Some come in bursts of equal jobs. A few large ones need most of the
 * CPU time.
 */
public final class JobTrace {

  /**
   * A job as its owner submits it.
   *
   * @param at when it is created, in milliseconds since the beginning
   * @param queue the number of its queue
   * @param millis how long it runs if nothing stops it
   * @param broken whether every run of it fails
   */
  record Submission(
      long at,
      int queue,
      SizeClass sizeClass,
      int cpus,
      int priority,
      long millis,
      boolean broken) {}

  /** How large jobs are, and how many of each size there are. */
  enum SizeClass {
    SMALL(0.70, 1, 4, 20),
    MEDIUM(0.25, 8, 32, 100),
    LARGE(0.05, 64, 128, 300);

    private final double part;
    private final int fewestCpus;
    private final int mostCpus;
    private final double medianMinutes;

    SizeClass(double part, int fewestCpus, int mostCpus, double medianMinutes) {
      this.part = part;
      this.fewestCpus = fewestCpus;
      this.mostCpus = mostCpus;
      this.medianMinutes = medianMinutes;
    }

    /** One of the equally frequent numbers of CPUs: multiples of the fewest. */
    private int cpus(int step) {
      return Math.min(mostCpus, fewestCpus * (1 + step));
    }

    private int steps() {
      return mostCpus / fewestCpus;
    }

    private double meanCpuSeconds(int largestJob) {
      double cpus = 0;
      for (int step = 0; step < steps(); step++) {
        cpus += (double) Math.min(largestJob, cpus(step)) / steps();
      }
      return cpus * medianMinutes * 60 * Math.exp(SPREAD * SPREAD / 2);
    }
  }

  private static final double SPREAD = 1.0;
  private static final long MILLIS_PER_HOUR = 3_600_000L;
  private static final double LONGEST_HOURS = 36;
  private static final double BROKEN = 0.005;
  private static final double BURSTS = 0.05;
  private static final int LARGEST_BURST = 40;
  private static final int[] PRIORITIES = {0, 0, 0, 0, 0, 0, 50, 50, 50, 100};

  private final MonthSize size;
  private final int largestJob;
  private final Random random;

  /** Weights of the arrivals until the end of each hour. */
  private final double[] untilHour;

  /** The same within one hour, team by team. */
  private final double[] untilTeam;

  private int created;
  private int hour;
  private int hourOfTeams = -1;
  private int leftOfBurst;
  private Submission last = new Submission(0, 0, SizeClass.SMALL, 1, 0, 0, false);

  /**
   * A trace.
   *
   * @param largestJob how many CPUs a job asks for at most
   */
  JobTrace(MonthSize size, int largestJob) {
    this.size = size;
    this.largestJob = largestJob;
    this.random = new Random(size.seed());
    this.untilHour = new double[(int) size.hours()];
    this.untilTeam = new double[size.allTeams()];
    double sum = 0;
    for (int at = 0; at < untilHour.length; at++) {
      for (int team = 0; team < size.allTeams(); team++) {
        sum += intensity(team, at);
      }
      untilHour[at] = sum;
    }
  }

  /** So many jobs of the made-up month, those of all teams and priorities alike. */
  public static List<TraceJob> jobs(int count) {
    JobTrace jobTrace =
        new JobTrace(
            MonthSize.WHOLE.with(count, MonthSize.WHOLE.days(), MonthSize.WHOLE.seed()),
            SizeClass.LARGE.mostCpus);
    List<TraceJob> jobs = new ArrayList<>();
    while (jobTrace.hasNext()) {
      Submission submission = jobTrace.next();
      jobs.add(
          new TraceJob(
              Integer.toString(jobs.size()),
              Instant.EPOCH.plusMillis(submission.at),
              Duration.ofMillis(submission.millis),
              Optional.empty(),
              new TreeMap<>(Map.of("cpu", 1_000L * submission.cpus)),
              Optional.empty(),
              FinishedRun.End.SUCCEEDED,
              new TraceJob.JobOwner("", "", "", Integer.toString(submission.queue))));
    }
    return jobs;
  }

  /** How many CPU seconds a job needs on average, if none asks for more CPUs than this. */
  static double meanCpuSeconds(int largestJob) {
    double mean = 0;
    for (SizeClass each : SizeClass.values()) {
      mean += each.part * each.meanCpuSeconds(largestJob);
    }
    return mean;
  }

  /** How many jobs a team submits in an hour, in relation to other teams and hours. */
  private static double intensity(int team, int hour) {
    int local = hour + 3 * (team % 3);
    int ofDay = local % 24;
    double day =
        ofDay < 7 || ofDay >= 21 ? 0 : Math.sin(Math.PI * (ofDay - 7) / 14.0); // peak at 14 o'clock
    boolean weekend = local / 24 % 7 >= 5;
    return (1 + team % 4) * (0.2 + day) * (weekend ? 0.3 : 1);
  }

  boolean hasNext() {
    return created < size.jobs();
  }

  /** The next job; none is earlier than the one before. */
  Submission next() {
    if (leftOfBurst == 0) {
      last = draw(at());
      leftOfBurst = random.nextDouble() < BURSTS ? 1 + random.nextInt(LARGEST_BURST) : 1;
    }
    leftOfBurst--;
    created++;
    return new Submission(
        last.at,
        last.queue,
        last.sizeClass,
        last.cpus,
        last.priority,
        millis(last.sizeClass),
        random.nextDouble() < BROKEN);
  }

  private long at() {
    double weight = untilHour[untilHour.length - 1] * created / size.jobs();
    while (untilHour[hour] <= weight) {
      hour++;
    }
    double before = hour == 0 ? 0 : untilHour[hour - 1];
    double part = (weight - before) / (untilHour[hour] - before);
    return (long) ((hour + part) * MILLIS_PER_HOUR);
  }

  private Submission draw(long at) {
    int team = team();
    // Squared: the first queues of a team are used most.
    double skewed = random.nextDouble() * random.nextDouble();
    int queue = team * size.queues() + (int) (skewed * size.queues());
    double drawn = random.nextDouble();
    SizeClass sizeClass =
        drawn < SizeClass.SMALL.part
            ? SizeClass.SMALL
            : drawn < SizeClass.SMALL.part + SizeClass.MEDIUM.part
                ? SizeClass.MEDIUM
                : SizeClass.LARGE;
    int cpus = sizeClass.cpus(random.nextInt(sizeClass.steps()));
    int priority = PRIORITIES[random.nextInt(PRIORITIES.length)];
    return new Submission(at, queue, sizeClass, Math.min(cpus, largestJob), priority, 0, false);
  }

  private int team() {
    if (hourOfTeams != hour) {
      hourOfTeams = hour;
      double sum = 0;
      for (int team = 0; team < untilTeam.length; team++) {
        sum += intensity(team, hour);
        untilTeam[team] = sum;
      }
    }
    double drawn = random.nextDouble() * untilTeam[untilTeam.length - 1];
    int team = 0;
    while (untilTeam[team] <= drawn) {
      team++;
    }
    return team;
  }

  private long millis(SizeClass sizeClass) {
    double hours = sizeClass.medianMinutes / 60 * Math.exp(SPREAD * random.nextGaussian());
    return 1_000 + (long) (Math.min(LONGEST_HOURS, hours) * MILLIS_PER_HOUR);
  }
}
