package dev.sluice.bench;

import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What worker clusters cost their manager: a real control plane and operator as the manager, and
 * workers that are simulated behind one HTTPS server, or real as well.
 */
public final class WorkerClustersTable implements AutoCloseable {

  private static final int WARM_UP = 60;
  private static final long BETWEEN_JOBS_MILLIS = 250;
  private static final Duration RUN_FOR = Duration.ofSeconds(3);
  private static final Pattern HEAP_USED = Pattern.compile("used (\\d+)K");
  private static final Pattern WRITES =
      Pattern.compile(
          "(?m)^apiserver_request_total\\{[^}]*resource=\"(workloads|jobs|events)\"[^}]*"
              + "subresource=\"(|status)\"[^}]*verb=\"(POST|PUT|PATCH|DELETE)\"[^}]*} (\\S+)$");

  private final WorkerClustersFixture stage = new WorkerClustersFixture();
  private final KubernetesClient client = stage.client();

  private WorkerClustersTable() {}

  /**
   * Prints one line of a table.
   *
   * @param args {@code idle WORKERS}, or {@code jobs WORKERS JOBS [REAL_WORKERS]}
   * @throws Exception when anything fails
   */
  public static void main(String[] args) throws Exception {
    int workers = Integer.parseInt(args[1]);
    try (WorkerClustersTable table = new WorkerClustersTable();
        SimulatedWorkers simulated = new SimulatedWorkers(workers, RUN_FOR)) {
      if (args[0].equals("idle")) {
        table.idle(simulated, workers);
      } else {
        table.jobs(
            simulated,
            workers,
            Integer.parseInt(args[2]),
            args.length > 3 ? Integer.parseInt(args[3]) : 0);
      }
    }
  }

  /** What stands at one moment. */
  private record Reading(long cpuMillis, long residentKiB, Instant at) {}

  private Reading reading() throws IOException {
    String stat = Files.readString(Path.of("/proc", "" + stage.pid(), "stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    long ticks = Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    String status = Files.readString(Path.of("/proc", "" + stage.pid(), "status"));
    Matcher resident = Pattern.compile("VmRSS:\\s+(\\d+) kB").matcher(status);
    return new Reading(
        ticks * 10, resident.find() ? Long.parseLong(resident.group(1)) : 0, Instant.now());
  }

  /** What the operator's heap holds after a collection. */
  private long heapKiB() throws Exception {
    for (int i = 0; i < 2; i++) {
      jcmd("GC.run");
    }
    Matcher used = HEAP_USED.matcher(jcmd("GC.heap_info"));
    return used.find() ? Long.parseLong(used.group(1)) : 0;
  }

  private String jcmd(String command) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                "" + stage.pid(),
                command)
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }

  private void idle(SimulatedWorkers simulated, int workers) throws Exception {
    pause(20);
    long heapBefore = heapKiB();
    Reading first = reading();
    pause(60);
    Reading before = reading();
    stage.connect(simulated, workers, 0);
    pause(20);
    long heapAfter = heapKiB();
    Map<String, Long> asked = simulated.requests();
    Reading second = reading();
    pause(60);
    Reading after = reading();
    Map<String, Long> askedAfter = simulated.requests();
    System.out.printf(
        "| workers | CPU ms/min without | CPU ms/min with | per worker | heap KiB/worker | resident"
            + " KiB/worker | requests/min/worker |%n|---:|---:|---:|---:|---:|---:|---:|%n");
    System.out.printf(
        "| %d | %d | %d | %.1f | %.0f | %.0f | %.2f |%n",
        workers,
        perMinute(first, before),
        perMinute(second, after),
        (perMinute(second, after) - perMinute(first, before)) / (double) workers,
        (heapAfter - heapBefore) / (double) workers,
        (after.residentKiB() - before.residentKiB()) / (double) workers,
        (sum(askedAfter) - sum(asked)) / (double) workers);
    System.out.println("requests while connecting: " + asked);
  }

  private static long perMinute(Reading from, Reading to) {
    long millis = Duration.between(from.at(), to.at()).toMillis();
    return (to.cpuMillis() - from.cpuMillis()) * 60_000 / millis;
  }

  private static long sum(Map<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  private void jobs(SimulatedWorkers simulated, int workers, int count, int real) throws Exception {
    for (int i = 0; i < real; i++) {
      stage.realWorker("real-" + i);
    }
    stage.connect(simulated, workers, real);
    run("warm", WARM_UP, simulated);
    pause(10);
    Reading idleFrom = reading();
    pause(20);
    Reading idleTo = reading();
    Map<String, Long> asked = simulated.requests();
    Map<String, Long> own = ownWrites();
    Reading before = reading();
    Map<String, Long> created = run("job", count, simulated);
    pause(5);
    Reading after = reading();
    long[] millis = new long[count];
    int i = 0;
    for (Map.Entry<String, Long> each : created.entrySet()) {
      millis[i++] =
          TimeUnit.NANOSECONDS.toMillis(started(simulated, each.getKey()) - each.getValue());
    }
    Arrays.sort(millis);
    double busy =
        after.cpuMillis()
            - before.cpuMillis()
            - perMinute(idleFrom, idleTo)
                * (Duration.between(before.at(), after.at()).toMillis() / 60_000.0);
    Map<String, Long> perJob = since(asked, simulated.requests());
    Map<String, Long> written = since(own, ownWrites());
    System.out.printf(
        "| simulated | real | jobs | start p50 ms | p99 ms | CPU ms/job | requests/job to workers |"
            + " writes to its own API server |%n|---:|---:|---:|---:|---:|---:|---:|---:|%n");
    System.out.printf(
        "| %d | %d | %d | %d | %d | %.1f | %.1f | %.1f |%n",
        workers,
        real,
        count,
        millis[count / 2],
        millis[Math.min(count - 1, count * 99 / 100)],
        busy / count,
        sum(perJob) / (double) count,
        sum(written) / (double) count);
    System.out.println("requests to simulated workers: " + perJob);
    System.out.println("writes to the manager's own API server: " + written);
  }

  /** Jobs of the manager, at a steady pace; returns when all have ended: when each was created. */
  private Map<String, Long> run(String prefix, int count, SimulatedWorkers simulated)
      throws Exception {
    Map<String, Long> created = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      String name = prefix + "-" + i;
      created.put(name, System.nanoTime());
      WorkerClustersFixture.apply(
          client,
          """
          apiVersion: batch/v1
          kind: Job
          metadata: {name: %s, namespace: bench, labels: {kueue.x-k8s.io/queue-name: q}}
          spec:
            suspend: true
            template:
              metadata: {annotations: {sluice.dev/run-for: 3s}}
              spec:
                restartPolicy: Never
                containers: [{name: c, image: i, resources: {requests: {cpu: 10m}}}]
          """
              .formatted(name));
      TimeUnit.MILLISECONDS.sleep(BETWEEN_JOBS_MILLIS);
    }
    WorkerClustersFixture.until(
        () -> created.keySet().stream().allMatch(name -> started(simulated, name) > 0));
    WorkerClustersFixture.until(() -> created.keySet().stream().allMatch(this::complete));
    return created;
  }

  private boolean complete(String name) {
    Job job = client.batch().v1().jobs().inNamespace("bench").withName(name).require();
    return job.getStatus() != null && job.getStatus().getCompletionTime() != null;
  }

  private long started(SimulatedWorkers simulated, String name) {
    return simulated.started().getOrDefault(name, stage.started().getOrDefault(name, 0L));
  }

  /** Writes at the manager's own API server so far, by what was written. */
  private Map<String, Long> ownWrites() {
    Matcher line = WRITES.matcher(client.raw("/metrics"));
    Map<String, Long> writes = new TreeMap<>();
    while (line.find()) {
      String what = line.group(3) + " " + line.group(1);
      writes.merge(
          line.group(2).isEmpty() ? what : what + "/" + line.group(2),
          (long) Double.parseDouble(line.group(4)),
          Long::sum);
    }
    return writes;
  }

  private static Map<String, Long> since(Map<String, Long> before, Map<String, Long> now) {
    Map<String, Long> more = new TreeMap<>(now);
    before.forEach((what, times) -> more.merge(what, -times, Long::sum));
    more.values().removeIf(times -> times == 0);
    return more;
  }

  private static void pause(long seconds) throws InterruptedException {
    TimeUnit.SECONDS.sleep(seconds);
  }

  @Override
  public void close() throws Exception {
    stage.close();
  }
}
