package dev.sluice.lab.bench.trace;

import dev.sluice.forecast.trace.TraceFormat;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Random;

/**
 * A made-up trace as text of each format, with the same jobs: many small ones and one in 25 that
 * needs most of what 100 GPUs give. What a user's jobs last is spread around a time of that user,
 * as far as the standard deviation of its logarithm says. In the format with limits, they are one
 * to three times as long as the run.
 */
final class MadeUpTrace {

  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);
  private static final int CAPACITY = 100;
  private static final double LOAD = 0.85;
  private static final int USERS = 12;

  private MadeUpTrace() {}

  /** The text of a trace. */
  static String text(TraceFormat format, int jobs, double spread) {
    Random random = new Random(7);
    StringBuilder text =
        new StringBuilder(
            switch (format) {
              case SWF -> "; UnixStartTime: " + BEGIN.getEpochSecond() + "\n";
              case HELIOS ->
                  "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
                      + "duration,queue\n";
              case ALIBABA ->
                  "name,cpu_milli,memory_mib,num_gpu,qos,pod_phase,creation_time,deletion_time,"
                      + "scheduled_time\n";
            });
    double at = 0;
    for (int i = 0; i < jobs; i++) {
      int size = random.nextInt(25) == 0 ? 60 + random.nextInt(31) : 1 + random.nextInt(12);
      int user = random.nextInt(USERS);
      long lasts = (long) Math.exp(5.5 + 0.2 * user + spread * random.nextGaussian()) + 5;
      long limit = (long) Math.ceil(lasts * (1 + 2 * random.nextDouble()));
      line(text, format, new Job(i, (long) at, size, user, lasts, limit));
      at += size * (double) lasts / CAPACITY / LOAD * -Math.log(1 - random.nextDouble());
    }
    return text.toString();
  }

  private record Job(int number, long at, int size, int user, long lasts, long limit) {}

  private static void line(StringBuilder text, TraceFormat format, Job job) {
    long submitted = BEGIN.getEpochSecond() + job.at;
    text.append(
        switch (format) {
          case SWF ->
              "%d %d 0 %d %d -1 -1 %d %d -1 1 %d 1 1 1 -1 -1 -1"
                  .formatted(
                      job.number, job.at, job.lasts, job.size, job.size, job.limit, job.user);
          case HELIOS ->
              "%d,u%d,vc,%d,%d,1,COMPLETED,%s,%s,%s,%d,0"
                  .formatted(
                      job.number,
                      job.user,
                      job.size,
                      4 * job.size,
                      date(submitted),
                      date(submitted),
                      date(submitted + job.lasts),
                      job.lasts);
          case ALIBABA ->
              "job-%d,%d,%d,%d,u%d,Succeeded,%d,%d,%d"
                  .formatted(
                      job.number,
                      4_000 * job.size,
                      8_192 * job.size,
                      job.size,
                      job.user,
                      submitted,
                      submitted + job.lasts,
                      submitted);
        });
    text.append('\n');
  }

  private static String date(long second) {
    return DATE.format(LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC));
  }
}
