package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.Benchmark.JobStatusPatches;
import dev.sluice.lab.bench.Benchmark.Observation;
import dev.sluice.lab.bench.BenchmarkApiClient.Answer;
import dev.sluice.lab.bench.BenchmarkFixture.Condition;
import dev.sluice.lab.bench.Installation.OwnFiles;
import dev.sluice.lab.bench.Scenario.WorkClass;
import dev.sluice.lab.bench.Schedule.Creation;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlane.FreePorts;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.TcpProxy;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice bench start}: how long an operator takes to start and to take over. */
@Command(
    name = "start",
    description = {
      "Measures how long an operator takes from its start until it is ready and until it decides,"
          + " without and with Workloads that wait, and how long a standby takes to decide when the"
          + " leader was told to end and when it was killed.",
      "It brings up a control plane and operators of its own."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:everything was decided",
      "1:it was not; the message says why",
      "2:the command line is wrong",
      "3:the control plane's programs can't be had"
    })
public final class StartCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--pending",
      paramLabel = "NUMBER",
      defaultValue = "5000",
      description = "How many Workloads wait in 30 queues (default: ${DEFAULT-VALUE}).")
  private int pending = 5000;

  @Option(
      names = "--lease",
      paramLabel = "SECONDS",
      defaultValue = "15",
      description =
          "How long a leader that is not heard of stays leader; a busy machine needs more (default:"
              + " ${DEFAULT-VALUE}).")
  private int leaseSeconds = 15;

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    int least = Math.toIntExact(StartBenchmark.scenario(1).nominalCpu()) + 100;
    if (pending < least) {
      throw new ParameterException(
          spec.commandLine(),
          "--pending is %d, must be %d or more: the first fill the quota"
              .formatted(pending, least));
    }
    if (leaseSeconds < 6) {
      throw new ParameterException(
          spec.commandLine(), "--lease is " + leaseSeconds + ", must be 6 or more");
    }
    PrintWriter err = spec.commandLine().getErr();
    String name = BenchmarkTarget.newRun();
    try (StartBenchmark benchmark =
        new StartBenchmark(
            name,
            binaries.obtain(),
            pending,
            Duration.ofSeconds(leaseSeconds),
            line -> {
              err.println(line);
              err.flush();
            })) {
      PrintWriter out = spec.commandLine().getOut();
      out.print(benchmark.run().text());
      out.flush();
      return 0;
    } catch (BenchException | ControlPlaneException e) {
      err.println("sluice: " + e.getMessage());
      return 1;
    } catch (BinariesMissingException e) {
      err.println(e.getMessage());
      return 3;
    }
  }

  /**
   * Starts operators in a control plane of its own, without and with Workloads that wait, and takes
   * their leaders away.
   */
  static final class StartBenchmark implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(20);
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final Duration RETRY = Duration.ofSeconds(2);
    private static final int AT_A_TIME = 16;

    /**
     * How many Workloads end after a change of the leader, so that there is something to decide.
     */
    private static final int ENDS = 20;

    private static final String REGISTRATIONS = "/apis/admissionregistration.k8s.io/v1/";
    private static final Map<String, String> WEBHOOKS =
        Map.of(
            "mutatingwebhookconfigurations", WebhookConfigurations.MUTATING,
            "validatingwebhookconfigurations", WebhookConfigurations.VALIDATING);

    private final Consumer<String> tell;
    private final Duration lease;
    private final Random random = new Random();
    private final StartFigures figures = new StartFigures();
    private final OwnFiles files = OwnFiles.make();
    private final ControlPlane controlPlane;
    private final BenchmarkApiClient client;
    private final BenchmarkTarget target;
    private final Scenario scenario;

    /** Where the definitions and registrations say that webhooks are. */
    private final InetSocketAddress published;

    private final TcpProxy service;
    private int started;

    /**
     * Starts the control plane.
     *
     * @param pending about how many Workloads wait: as many for each of 30 queues
     * @param lease how long a leader that is not heard of stays leader
     * @param tell receives progress lines
     */
    StartBenchmark(
        String name, Binaries binaries, int pending, Duration lease, Consumer<String> tell) {
      this.tell = tell;
      this.lease = lease;
      scenario = scenario(pending);
      target = new BenchmarkTarget(name, "v1beta2");
      controlPlane = files.controlPlane(name, binaries);
      OperatorAccount.create(controlPlane.kubeconfig(), files.operatorKubeconfig());
      OwnFiles.PROGRAMS_FOR_PODS.forEach(controlPlane::crash);
      client = new BenchmarkApiClient(controlPlane.kubeconfig());
      published = loopback(1, FreePorts.choose(1, random).getFirst());
      service = TcpProxy.listening(published.getPort(), uri(loopback(2, published.getPort())));
    }

    static Scenario scenario(int pending) {
      // Nobody is evicted: no controller would give the quota of an evicted Workload back.
      Scenario.Queue queue = new Scenario.Queue(20, 100, "Never", "Never");
      int perQueue = Math.max(1, Math.ceilDiv(pending, 30));
      return new Scenario(
          "start",
          "",
          Scenario.Form.WORKLOAD,
          5,
          6,
          queue,
          List.of(new WorkClass("small", perQueue, 1, 50, 0, 0)));
    }

    /** Runs through all steps. */
    StartFigures run() {
      try (OperatorProcess first = start("first, installs", true, Optional.empty())) {
        first.stop();
      }
      try (OperatorProcess empty = start("empty", false, Optional.empty())) {
        new BenchmarkFixture(scenario, target, client).setUp(empty.onEnd());
        setStopPolicy("Hold");
        await("all queues were closed", () -> active() == 0);
        withoutWebhooks(
            () -> {
              load();
              empty.stop();
              setStopPolicy("None");
            });
      }
      try (AdmissionTimes admissions = new AdmissionTimes(target, client)) {
        String pending = String.format(Locale.ROOT, "%,d Workloads pending", scenario.size());
        OperatorProcess leader = start(pending, false, Optional.of(admissions));
        try {
          leader = change("leader told to end", leader, OperatorProcess::stop, admissions);
          leader =
              change(
                  "leader killed, lease of " + lease.toSeconds() + " s",
                  leader,
                  OperatorProcess::kill,
                  admissions);
        } finally {
          leader.close();
        }
      }
      return figures;
    }

    /**
     * Leases in the proportions that the operator has by default, and webhooks at this address.
     *
     * <p>Each operator has a loopback address of its own, with the port that is published. So
     * definitions stay as they are when another one starts, as behind a Service: the API server
     * builds its storage anew when a definition changes.
     */
    private OperatorSettings settings(InetSocketAddress webhooks) {
      return OperatorSettings.onFreePorts(random)
          .withLeases(lease, lease.multipliedBy(2).dividedBy(3), RETRY)
          .withWebhooksAt(webhooks);
    }

    private static InetSocketAddress loopback(int last, int port) {
      return new InetSocketAddress("127.0.0." + last, port);
    }

    private static URI uri(InetSocketAddress address) {
      return URI.create(
          "https://" + address.getAddress().getHostAddress() + ":" + address.getPort());
    }

    /** Starts an operator and returns it when it is ready; webhooks are sent to it from then on. */
    private OperatorProcess start(String what, boolean install, Optional<AdmissionTimes> decides) {
      tell.accept("start: " + what);
      started++;
      InetSocketAddress own = loopback(1 + started, published.getPort());
      OperatorSettings settings = settings(own);
      String name = "operator-" + started;
      long begun = System.nanoTime();
      OperatorProcess process =
          install
              ? OperatorProcess.start(
                  name, files.operatorKubeconfig(), settings, controlPlane.logs(), List.of())
              : OperatorProcess.startInstalled(
                  name, files.operatorKubeconfig(), settings, controlPlane.logs());
      process.awaitReady();
      service.redirectTo(uri(own));
      Duration ready = since(begun);
      Duration cpu = ProcessReading.of(process.pid()).cpu();
      Optional<Duration> decision =
          decides.map(times -> Duration.ofNanos(awaitDecision(times, begun) - begun));
      figures.start(what, ready, cpu, decision);
      tell.accept(figures.last());
      return process;
    }

    /** Returns the process that leads afterwards. */
    private OperatorProcess change(
        String what, OperatorProcess leader, Consumer<OperatorProcess> end, AdmissionTimes times) {
      long quota = Math.min(scenario.size(), scenario.nominalCpu());
      await("the quota was used", () -> times.running().size() >= quota);
      OperatorProcess standby = start("standby, before: " + what, false, Optional.empty());
      try {
        await("the quota was used", () -> times.running().size() >= quota);
        tell.accept(what);
        end.accept(leader);
        long ended = System.nanoTime();
        finishSome(times);
        figures.change(what, Duration.ofNanos(awaitDecision(times, ended) - ended));
        tell.accept(figures.last());
        return standby;
      } catch (RuntimeException e) {
        standby.close();
        throw e;
      }
    }

    /** Has some Workloads end, whose quota is for others. */
    private void finishSome(AdmissionTimes times) {
      JobStatusPatches patches = new JobStatusPatches(target);
      List<Creation> creations = Schedule.of(scenario);
      int finished = 0;
      for (Observation each : times.running()) {
        if (finished == ENDS) {
          return;
        }
        Answer answer =
            BenchmarkApiClient.await(
                client.send(
                    JobStatusPatches.KEY,
                    patches.path(creations.get(each.ordinal())),
                    patches.finished(each)));
        finished += answer.successful() ? 1 : 0;
      }
      if (finished == 0) {
        throw new BenchException("no Workload could be ended");
      }
    }

    private long awaitDecision(AdmissionTimes times, long since) {
      await("something was admitted", () -> times.firstAfter(since).isPresent());
      OptionalLong seen = times.firstAfter(since);
      return seen.orElseThrow();
    }

    /** Creates all Workloads. */
    private void load() {
      tell.accept(String.format(Locale.ROOT, "creating %,d Workloads", scenario.size()));
      BenchmarkManifests manifests = new BenchmarkManifests(scenario, target);
      RequestKey key = new RequestKey("POST", BenchmarkTarget.GROUP, "workloads", "");
      Semaphore slots = new Semaphore(AT_A_TIME);
      List<String> refused = new ArrayList<>();
      for (Creation creation : Schedule.of(scenario)) {
        slots.acquireUninterruptibly();
        var unused =
            client
                .send(key, target.namespaced("workloads"), manifests.workload(creation))
                .whenComplete(
                    (answer, failure) -> {
                      if (answer == null || !answer.successful()) {
                        synchronized (refused) {
                          refused.add(answer == null ? String.valueOf(failure) : answer.text());
                        }
                      }
                      slots.release();
                    });
      }
      slots.acquireUninterruptibly(AT_A_TIME);
      synchronized (refused) {
        if (!refused.isEmpty()) {
          throw new BenchException(
              "%d of %d Workloads could not be created: %s"
                  .formatted(refused.size(), scenario.size(), refused.getFirst()));
        }
      }
    }

    private void setStopPolicy(String policy) {
      RequestKey key = new RequestKey("PATCH", BenchmarkTarget.GROUP, "clusterqueues", "");
      String body = "{\"spec\": {\"stopPolicy\": \"" + policy + "\"}}";
      for (int queue = 0; queue < scenario.queues(); queue++) {
        successful(key, target.wide("clusterqueues") + "/" + target.queue(queue), body);
      }
    }

    private long active() {
      long active = 0;
      for (JsonNode queue : client.read(target.wide("clusterqueues")).path("items")) {
        active += Condition.holds(queue, "Active") ? 1 : 0;
      }
      return active;
    }

    /** Has no webhook called meanwhile: nothing else would end so soon on a small machine. */
    private void withoutWebhooks(Runnable action) {
      Map<String, JsonNode> removed = new HashMap<>();
      WEBHOOKS.forEach(
          (resource, name) -> {
            String path = REGISTRATIONS + resource;
            ObjectNode kept = (ObjectNode) client.read(path + "/" + name);
            ((ObjectNode) kept.path("metadata"))
                .remove(
                    List.of(
                        "uid",
                        "resourceVersion",
                        "creationTimestamp",
                        "generation",
                        "managedFields"));
            removed.put(path, kept);
            successful(
                new RequestKey("DELETE", "admissionregistration.k8s.io", resource, ""),
                path + "/" + name,
                "{}");
          });
      BenchmarkApiClient.pause(Duration.ofSeconds(2));
      action.run();
      removed.forEach(
          (path, body) ->
              successful(
                  new RequestKey("POST", "admissionregistration.k8s.io", path, ""),
                  path,
                  body.toString()));
    }

    private void successful(RequestKey key, String path, String body) {
      Answer answer = BenchmarkApiClient.await(client.send(key, path, body));
      if (!answer.successful()) {
        throw new BenchException(key.verb() + " " + path + ": " + answer.text());
      }
    }

    private static void await(String what, BooleanSupplier condition) {
      long begun = System.nanoTime();
      while (!condition.getAsBoolean()) {
        if (since(begun).compareTo(LIMIT) > 0) {
          throw new BenchException("not %s within %d s".formatted(what, LIMIT.toSeconds()));
        }
        BenchmarkApiClient.pause(PAUSE);
      }
    }

    private static Duration since(long nanos) {
      return Duration.ofNanos(System.nanoTime() - nanos);
    }

    @Override
    public void close() {
      try (files;
          controlPlane;
          service) {
        client.close();
      }
    }

    /** When each Workload of a run was seen to be admitted first, by a watch. */
    private static final class AdmissionTimes implements AutoCloseable {

      private final Map<Integer, Long> firstSeen = new ConcurrentHashMap<>();
      private final Map<Integer, Observation> running = new ConcurrentHashMap<>();
      private final CollectionWatch watch;
      private volatile String failure = "";

      /** Begins to watch the Workloads of the run. */
      AdmissionTimes(BenchmarkTarget benchmarkTarget, BenchmarkApiClient benchmarkApiClient) {
        watch =
            new CollectionWatch(
                benchmarkApiClient,
                benchmarkTarget.namespaced("workloads"),
                this::seen,
                e -> failure = String.valueOf(e.getMessage()));
        watch.start();
      }

      private void seen(JsonNode object) {
        Observation observation = Observation.ofWorkload(object);
        if (observation.admitted() && !observation.finished()) {
          firstSeen.putIfAbsent(observation.ordinal(), System.nanoTime());
          running.put(observation.ordinal(), observation);
        } else {
          running.remove(observation.ordinal());
        }
      }

      /**
       * The earliest first admission after a moment of {@link System#nanoTime}, if there was one.
       */
      OptionalLong firstAfter(long nanos) {
        checkWatch();
        return firstSeen.values().stream()
            .mapToLong(Long::longValue)
            .filter(seen -> seen - nanos >= 0)
            .min();
      }

      /** The Workloads that are admitted and haven't ended, as they were seen last. */
      List<Observation> running() {
        checkWatch();
        return List.copyOf(running.values());
      }

      private void checkWatch() {
        if (!failure.isEmpty()) {
          throw new BenchException(failure);
        }
      }

      @Override
      public void close() {
        watch.close();
      }
    }

    /** How long starts and changes of the leader took. */
    static final class StartFigures {

      private record Row(
          String what,
          Optional<Duration> ready,
          Optional<Duration> cpu,
          Optional<Duration> decision) {}

      private final List<Row> rows = new ArrayList<>();

      /**
       * Adds a start of a process.
       *
       * @param ready from its start until it said that it was ready
       * @param cpu its processor time until then
       * @param decision from its start until the first admission was seen; empty if nothing was
       *     pending
       */
      void start(String what, Duration ready, Duration cpu, Optional<Duration> decision) {
        rows.add(new Row(what, Optional.of(ready), Optional.of(cpu), decision));
      }

      /**
       * Adds a change of the leader.
       *
       * @param decision from the end of the old leader's process until the new one's first
       *     admission was seen
       */
      void change(String what, Duration decision) {
        rows.add(new Row(what, Optional.empty(), Optional.empty(), Optional.of(decision)));
      }

      /** A table that ends with a line break. */
      String text() {
        StringBuilder text = new StringBuilder();
        text.append(line("", "ready", "its CPU until then", "first decision"));
        rows.forEach(row -> text.append(line(row)));
        return text.toString();
      }

      /** The line of the table that was added last, without a line break. */
      String last() {
        return line(rows.getLast()).stripTrailing();
      }

      private static String line(Row row) {
        return line(row.what(), seconds(row.ready()), seconds(row.cpu()), seconds(row.decision()));
      }

      private static String line(String what, String ready, String cpu, String decision) {
        return String.format(Locale.ROOT, "%-48s%12s%20s%16s%n", what, ready, cpu, decision);
      }

      private static String seconds(Optional<Duration> duration) {
        return duration
            .map(each -> String.format(Locale.ROOT, "%.2f s", each.toMillis() / 1000.0))
            .orElse("");
      }
    }
  }
}
