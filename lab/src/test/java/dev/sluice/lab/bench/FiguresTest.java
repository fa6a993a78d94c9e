package dev.sluice.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.BenchCommand.FiguresJson;
import dev.sluice.lab.bench.BenchCommand.FiguresText;
import dev.sluice.lab.bench.BenchCommand.FloorRatios;
import dev.sluice.lab.bench.BenchmarkApiClient.ServerReading;
import dev.sluice.lab.bench.Figures.Attribution;
import dev.sluice.lab.bench.Scenario.Form;
import dev.sluice.lab.bench.Scenario.Queue;
import dev.sluice.lab.bench.Scenario.WorkClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FiguresTest {

  private static final long SECOND = 1_000_000_000L;
  private static final RequestKey STATUS =
      new RequestKey("PATCH", "kueue.x-k8s.io", "workloads", "status");

  /** Two pieces of 5 CPUs each, in one queue of 10 CPUs. */
  private static final Scenario SCENARIO =
      new Scenario(
          "two",
          "",
          Form.WORKLOAD,
          1,
          1,
          new Queue(10, 0, "Any", "Never"),
          List.of(new WorkClass("small", 2, 5, 0, 2000, 1000)));

  private static Timings played() {
    Timings timings = new Timings(Schedule.of(SCENARIO));
    timings.created(0, SECOND);
    timings.created(1, 3 * SECOND);
    timings.admitted(0, 2 * SECOND);
    timings.admitted(1, 6 * SECOND);
    timings.held(0, 2 * SECOND);
    timings.held(1, 4 * SECOND);
    timings.finished(0, 4 * SECOND);
    timings.finished(1, 11 * SECOND);
    return timings;
  }

  @Test
  void wallTimeIsFromTheFirstCreationToTheLastEnd() {
    assertThat(played().wallSeconds()).isEqualTo(10.0);
    assertThat(played().complete()).isTrue();
    assertThat(played().mostLateSeconds()).isEqualTo(2.0);
  }

  @Test
  void quotaUseIsWhatWasHeldOfWhatWasThere() {
    // given 6 s of 5 CPUs, in 10 s of 10 CPUs
    assertThat(played().quotaUse(10)).isCloseTo(0.3, within(1e-9));
  }

  @Test
  void waitsAreToldByClass() {
    assertThat(played().waits())
        .containsExactly(Map.entry("small", new Timings.Waits(2, 2.0, 1.0, 3.0, 3.0)));
  }

  @Test
  void onlyTheFirstAdmissionCounts() {
    Timings timings = played();

    timings.admitted(0, 9 * SECOND);

    assertThat(timings.admissions()).isEqualTo(2);
    assertThat(timings.waits()).extractingByKey("small").isEqualTo(played().waits().get("small"));
  }

  @Test
  void metricsOfTheApiServerAreAddedUpOverTheirOtherLabels() {
    ServerReading reading =
        ServerReading.parse(
            """
            # TYPE apiserver_request_total counter
            apiserver_request_total{code="200",component="apiserver",dry_run="",group="kueue.x-k8s.io",resource="workloads",scope="resource",subresource="status",verb="PATCH",version="v1beta2"} 15
            apiserver_request_total{code="409",component="apiserver",dry_run="",group="kueue.x-k8s.io",resource="workloads",scope="resource",subresource="status",verb="PATCH",version="v1beta2"} 2
            apiserver_request_total{code="200",component="apiserver",dry_run="All",group="kueue.x-k8s.io",resource="workloads",scope="resource",subresource="status",verb="PATCH",version="v1beta2"} 99
            apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"} 1.2e+03
            process_cpu_seconds_total 12.5
            """);

    assertThat(reading.cpuSeconds()).isEqualTo(12.5);
    assertThat(reading.requests())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(STATUS, 17L, new RequestKey("LIST", "", "pods", ""), 1200L));
  }

  @Test
  void metricsWithoutWhatIsNeededAreRefused() {
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> ServerReading.parse("up 1\n"))
        .withMessageContaining("apiserver_request_total");
  }

  @Test
  void onlyWritesBetweenTwoReadingsCount() {
    RequestKey list = new RequestKey("LIST", "kueue.x-k8s.io", "workloads", "");
    RequestKey lease = new RequestKey("PUT", "coordination.k8s.io", "leases", "");
    ServerReading before = new ServerReading(Map.of(STATUS, 5L, lease, 3L), 1);
    ServerReading after = new ServerReading(Map.of(STATUS, 12L, lease, 3L, list, 8L), 2);

    assertThat(after.writesSince(before)).containsExactly(Map.entry(STATUS, 7L));
  }

  @Test
  void whatTheBenchmarkSentIsNotTheOperators() {
    RequestKey create = new RequestKey("POST", "kueue.x-k8s.io", "workloads", "");
    RequestKey lease = new RequestKey("PUT", "coordination.k8s.io", "leases", "");
    RequestKey event = new RequestKey("POST", "", "events", "");

    Attribution writes =
        Attribution.of(
            Map.of(create, 10L, STATUS, 25L, lease, 4L, event, 6L),
            Map.of(create, 10L, STATUS, 10L));

    assertThat(writes.operator())
        .containsExactlyInAnyOrderEntriesOf(Map.of(STATUS, 15L, event, 6L));
    assertThat(writes.others()).containsExactly(Map.entry(lease, 4L));
    assertThat(writes.operatorTotal()).isEqualTo(21);
  }

  @Test
  void whatControllersAndSchedulerWriteForJobsIsNotTheOperators() {
    RequestKey start = new RequestKey("PATCH", "batch", "jobs", "");
    RequestKey jobStatus = new RequestKey("PUT", "batch", "jobs", "status");
    RequestKey binding = new RequestKey("POST", "", "pods", "binding");
    RequestKey event = new RequestKey("POST", "events.k8s.io", "events", "");
    RequestKey coreEvent = new RequestKey("POST", "", "events", "");

    Attribution writes =
        Attribution.of(
            Map.of(start, 5L, jobStatus, 15L, binding, 5L, event, 12L, coreEvent, 10L), Map.of());

    assertThat(writes.operator()).containsExactlyInAnyOrderEntriesOf(Map.of(start, 5L, event, 7L));
    assertThat(writes.others())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(jobStatus, 15L, binding, 5L, event, 5L, coreEvent, 10L));
  }

  @Test
  void anAuditLogTellsWhoseWritesTheyWere() {
    RequestKey start = new RequestKey("PATCH", "batch", "jobs", "");
    RequestKey lease = new RequestKey("PUT", "coordination.k8s.io", "leases", "");
    RequestKey event = new RequestKey("POST", "events.k8s.io", "events", "", "Admitted");
    String operator = "system:serviceaccount:kueue-system:kueue-controller-manager";
    Figures.Reading before =
        audited(Map.of(operator, Map.of(STATUS, 4L), "sluice-admin", Map.of(STATUS, 9L)));
    Figures.Reading after =
        audited(
            Map.of(
                operator,
                Map.of(STATUS, 10L, start, 2L, lease, 3L, event, 2L),
                "sluice-admin",
                Map.of(STATUS, 12L),
                "controllers",
                Map.of(start, 5L)));

    Figures figures = Figures.of(SCENARIO, played(), before, Optional.empty(), after);

    assertThat(figures.writes().operator())
        .containsExactlyInAnyOrderEntriesOf(Map.of(STATUS, 6L, start, 2L, event, 2L));
    assertThat(figures.operatorWritesPerWorkload()).isEqualTo(5.0);
    assertThat(figures.operatorEventsPerWorkload()).isEqualTo(1.0);
    assertThat(figures.writes().others())
        .containsExactlyInAnyOrderEntriesOf(Map.of(lease, 3L, start, 5L));
    assertThat(FiguresText.of(figures))
        .contains("writes of", "controllers", "PATCH jobs", "POST events Admitted")
        .contains("5.000 /workload; 4.000 without Events");
    assertThat(FiguresJson.of(figures).path("operatorEventsPerWorkload").asDouble()).isEqualTo(1.0);
    assertThat(FiguresJson.of(figures).at("/writers/controllers/PATCH jobs").asInt()).isEqualTo(5);
  }

  private static Figures.Reading audited(Map<String, Map<RequestKey, Long>> writes) {
    Figures.Reading reading = reading(0, 1, 1, 1);
    return new Figures.Reading(
        reading.server(), reading.operator(), reading.runner(), reading.own(), writes);
  }

  @Test
  void whatTheFloorCostIsTheDenominator(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("floor.json");
    Figures floor =
        Figures.of(
            SCENARIO,
            played(),
            reading(10, 3.0, 4, 100),
            Optional.empty(),
            reading(20, 3.25, 5, 300));
    Files.writeString(file, FiguresJson.of(floor).toString());
    Figures figures =
        Figures.of(
            SCENARIO,
            played(),
            reading(10, 3.0, 4, 100),
            Optional.empty(),
            reading(30, 3.5, 5, 300));

    assertThat(FiguresText.of(figures, FloorRatios.read(file)))
        .contains(
            "wall time / floor                   1.00\n",
            "operator writes / floor             2.00\n",
            "API server CPU / floor              2.00\n");
    Files.writeString(file, "{}");
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> FloorRatios.read(file))
        .withMessageContaining("wallSeconds must be greater than 0");
  }

  @Test
  void figuresAreDifferencesPerWorkload() {
    Figures figures =
        Figures.of(
            SCENARIO,
            played(),
            reading(10, 3.0, 4, 100),
            Optional.empty(),
            reading(20, 3.5, 5, 300));

    assertThat(figures.operatorWritesPerWorkload()).isEqualTo(3.0);
    assertThat(figures.operatorCpuMillisPerWorkload()).isEqualTo(500.0);
    assertThat(figures.apiServerCpuMillisPerWorkload()).isEqualTo(250.0);
    assertThat(figures.peakRssMiB()).isEqualTo(300.0);
    assertThat(figures.admissionsPerSecond()).isEqualTo(0.2);
    assertThat(figures.idealSeconds()).isEqualTo(3.0);
  }

  @Test
  void theLastThirdIsToldByItself() {
    Figures.Reading before = reading(10, 3.0, 4, 100);
    Figures.Reading after = reading(20, 3.5, 5, 300);
    Figures.Partial first =
        new Figures.Partial(1, new ProcessReading(Duration.ofMillis(4_800), 200));

    Figures figures = Figures.of(SCENARIO, played(), before, Optional.of(first), after);

    assertThat(figures.operatorCpuMillisInLastThird()).hasValue(200.0);
    assertThat(FiguresText.of(figures)).contains("  in the last third                 200.00 ms");
    assertThat(FiguresJson.of(figures).path("operatorCpuMillisInLastThird").asDouble())
        .isEqualTo(200.0);
    Figures.Partial all = new Figures.Partial(2, first.operator());
    assertThat(
            Figures.of(SCENARIO, played(), before, Optional.of(all), after)
                .operatorCpuMillisInLastThird())
        .isEmpty();
  }

  private static Figures.Reading reading(long status, double cpu, int operatorSeconds, int mib) {
    return new Figures.Reading(
        new ServerReading(Map.of(STATUS, status), cpu),
        new ProcessReading(Duration.ofSeconds(operatorSeconds), mib * 1024L),
        new ProcessReading(Duration.ZERO, 0),
        Map.of(STATUS, status / 5 * 2),
        Map.of());
  }

  @Test
  void jsonHasTheAgreedNames() {
    ObjectNode json =
        FiguresJson.of(
            Figures.of(
                SCENARIO,
                played(),
                reading(10, 3.0, 4, 100),
                Optional.empty(),
                reading(20, 3.5, 5, 300)));

    assertThat(json.path("wallSeconds").asDouble()).isEqualTo(10.0);
    assertThat(json.path("idealSeconds").asDouble()).isEqualTo(3.0);
    assertThat(json.path("admissionsPerSecond").asDouble()).isEqualTo(0.2);
    assertThat(json.path("quotaUse").asDouble()).isEqualTo(0.3);
    assertThat(json.path("operatorWritesPerWorkload").asDouble()).isEqualTo(3.0);
    assertThat(json.path("operatorCpuMillisPerWorkload").asDouble()).isEqualTo(500.0);
    assertThat(json.path("apiServerCpuMillisPerWorkload").asDouble()).isEqualTo(250.0);
    assertThat(json.path("peakRssMiB").asDouble()).isEqualTo(300.0);
    assertThat(json.at("/timeToAdmissionSeconds/small").asDouble()).isEqualTo(2.0);
    assertThat(json.at("/classes/small/timeToAdmissionSeconds").asDouble()).isEqualTo(2.0);
    assertThat(json.at("/operatorWrites").path("PATCH workloads/status").asInt()).isEqualTo(6);
  }

  @Test
  void peakOfMemoryIsReadFromTheSystem() {
    assertThat(ProcessReading.parsePeak("Name:\tjava\nVmHWM:\t  307200 kB\nVmRSS:\t 1 kB\n"))
        .isEqualTo(307_200);
    assertThat(ProcessReading.of(ProcessHandle.current().pid()).cpu()).isPositive();
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> ProcessReading.of(Long.MAX_VALUE))
        .withMessageContaining(Long.toString(Long.MAX_VALUE));
  }
}
