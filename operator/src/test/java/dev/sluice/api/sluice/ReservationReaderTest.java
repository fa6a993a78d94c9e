package dev.sluice.api.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.sluice.ReservationReader.Kind;
import dev.sluice.api.sluice.ReservationReader.ReservationTimes;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReservationReaderTest {

  private static final YAMLMapper YAML = new YAMLMapper();

  private static final String FULL =
      """
      clusterQueue: research
      capacity: [{flavor: a100, resource: cpu, amount: 8}, {flavor: a100, resource: memory, amount: 4Gi}]
      users: {localQueues: [{namespace: course, name: students}], priorityClasses: [urgent]}
      lend: true
      schedule:
        timeZone: Europe/Berlin
        times: [{days: [Monday], from: "22:00", to: "06:00"}, {days: [Tuesday], from: "05:00", to: "24:00"}]
      """;

  private static JsonNode yaml(String text) throws Exception {
    return YAML.readTree(text);
  }

  private static ReservationReader.Reading read(Kind kind, String text) throws Exception {
    return ReservationReader.read(kind, yaml(text));
  }

  @Test
  void aFullSpecIsUnderstood() throws Exception {
    ReservationReader.Reading reading = read(Kind.CAPACITY_RESERVATION, FULL);
    assertThat(reading.faults()).isEmpty();
    ReservationReader.ReservationSpec spec = reading.spec().orElseThrow();
    assertThat(spec.scope())
        .isEqualTo(
            new Scope.OfQueue(
                "research",
                List.of(new Share("a100", "cpu", 8_000), new Share("a100", "memory", 4L << 30))));
    assertThat(spec.localQueues()).isEqualTo(Set.of(new LocalQueueId("course", "students")));
    assertThat(spec.priorityClasses()).containsExactly("urgent");
    assertThat(spec.lend()).isTrue();
    // Both items are one occurrence; the first of December 2026 is a Tuesday.
    assertThat(spec.times().from(Instant.parse("2026-12-01T12:00:00Z")))
        .hasSize(5)
        .startsWith(
            new Occurrence(
                Instant.parse("2026-11-30T21:00:00Z"), Instant.parse("2026-12-01T23:00:00Z")),
            new Occurrence(
                Instant.parse("2026-12-07T21:00:00Z"), Instant.parse("2026-12-08T23:00:00Z")));
  }

  /** In Berlin the clocks skip from 2 to 3 on 2026-03-29, and show it twice on 2026-10-25. */
  @Test
  void hoursAreThoseOfTheTimeZone() throws Exception {
    ReservationTimes times =
        read(
                Kind.MAINTENANCE_WINDOW,
                """
                flavors: [a]
                schedule: {timeZone: Europe/Berlin, times: [{days: [Sunday], from: "02:30", to: "06:00"}]}
                """)
            .spec()
            .orElseThrow()
            .times();
    assertThat(times.from(Instant.parse("2026-03-28T00:00:00Z")))
        .startsWith(
            new Occurrence(
                Instant.parse("2026-03-29T01:00:00Z"), Instant.parse("2026-03-29T04:00:00Z")),
            new Occurrence(
                Instant.parse("2026-04-05T00:30:00Z"), Instant.parse("2026-04-05T04:00:00Z")));
    assertThat(times.from(Instant.parse("2026-10-24T00:00:00Z")).getFirst())
        .isEqualTo(
            new Occurrence(
                Instant.parse("2026-10-25T00:30:00Z"), Instant.parse("2026-10-25T05:00:00Z")));
  }

  @Test
  void hoursThatBeginWhereTheClocksSkipBeginAtThatMoment() throws Exception {
    ReservationTimes times =
        read(
                Kind.MAINTENANCE_WINDOW,
                """
                flavors: [a]
                schedule: {timeZone: Europe/Berlin, times: [{days: [Sunday], from: "02:30", to: "03:15"}]}
                """)
            .spec()
            .orElseThrow()
            .times();
    assertThat(times.from(Instant.parse("2026-03-28T00:00:00Z")))
        .startsWith(
            new Occurrence(
                Instant.parse("2026-03-29T01:00:00Z"), Instant.parse("2026-03-29T01:15:00Z")));
  }

  @Test
  void whatIsOverIsNotTold() throws Exception {
    ReservationTimes times =
        read(
                Kind.MAINTENANCE_WINDOW,
                "{flavors: [a], start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z'}")
            .spec()
            .orElseThrow()
            .times();
    assertThat(times.from(Instant.parse("2026-01-01T23:59:59Z"))).hasSize(1);
    assertThat(times.from(Instant.parse("2026-01-02T00:00:00Z"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          clusterQueue: research | clusterQueue: '' | spec.clusterQueue
          amount: 8 | amount: 0 | spec.capacity[0].amount
          amount: 8 | amount: -1 | spec.capacity[0].amount
          amount: 4Gi | amount: many | spec.capacity[1].amount
          resource: memory | resource: cpu | spec.capacity[1]
          namespace: course | namespace: '' | spec.users.localQueues[0].namespace
          priorityClasses: [urgent] | priorityClasses: [''] | spec.users.priorityClasses[0]
          Europe/Berlin | Mars/Olympus | spec.schedule.timeZone
          [Monday] | [Moonday] | spec.schedule.times[0].days
          [Monday] | [] | spec.schedule.times[0].days
          "22:00" | "24:00" | spec.schedule.times[0].from
          "06:00" | "6:00" | spec.schedule.times[0].to
          "06:00" | "22:00" | spec.schedule.times[0].to
          schedule: | start: '2026-01-01T00:00:00Z' | spec.end
          """)
  void whatIsWrongIsNamed(String right, String wrong, String path) throws Exception {
    String text = FULL.replace(right, wrong);
    if (wrong.startsWith("start")) {
      text = FULL.substring(0, FULL.indexOf("schedule:")) + wrong;
    }
    ReservationReader.Reading reading = read(Kind.CAPACITY_RESERVATION, text);
    assertThat(reading.spec()).isEmpty();
    assertThat(reading.faults()).extracting(SpecFault::path).containsExactly(path);
  }

  @Test
  void aReservationHasUsersAndAWindowHasFlavors() throws Exception {
    assertThat(
            read(
                    Kind.CAPACITY_RESERVATION,
                    """
                    clusterQueue: research
                    capacity: [{flavor: a100, resource: cpu, amount: 8}]
                    start: '2026-01-01T00:00:00Z'
                    end: '2026-01-01T00:00:00Z'
                    """)
                .faults())
        .extracting(SpecFault::toString)
        .containsExactly(
            "spec.users: \"\": must name localQueues or priorityClasses",
            "spec.end: \"2026-01-01T00:00:00Z\": must be after spec.start");
    assertThat(read(Kind.MAINTENANCE_WINDOW, "{flavors: []}").faults())
        .extracting(SpecFault::path)
        .containsExactly("spec.flavors", "spec");
    assertThat(read(Kind.MAINTENANCE_WINDOW, "{flavors: [f], nodeLabels: {rack: r7}}").faults())
        .extracting(SpecFault::path)
        .containsExactly("spec.flavors", "spec");
    assertThat(read(Kind.MAINTENANCE_WINDOW, "{nodeLabels: {rack: 7}}").faults())
        .extracting(SpecFault::path)
        .containsExactly("spec.nodeLabels", "spec");
  }

  @Test
  void aWindowMayBeOfNodesByTheirLabels() throws Exception {
    assertThat(
            read(
                    Kind.MAINTENANCE_WINDOW,
                    """
                    nodeLabels: {rack: r7}
                    start: '2026-01-01T00:00:00Z'
                    end: '2026-01-01T01:00:00Z'
                    """)
                .spec()
                .orElseThrow()
                .scope())
        .isEqualTo(new Scope.OfNodes(Map.of("rack", "r7")));
  }

  @Test
  void nothingThatIsWrittenThereThrows() throws Exception {
    Random random = new Random(7);
    String[] values = {"[]", "{}", "null", "7", "'x'", "[{}]", "[[]]", "{times: [7]}", "-9e999"};
    String[] fields = {
      "clusterQueue",
      "capacity",
      "users",
      "lend",
      "schedule",
      "start",
      "end",
      "flavors",
      "nodeLabels"
    };
    for (int i = 0; i < 2_000; i++) {
      StringBuilder text = new StringBuilder("{");
      for (String field : fields) {
        if (random.nextBoolean()) {
          text.append(field).append(": ").append(values[random.nextInt(values.length)]);
          text.append(", ");
        }
      }
      JsonNode spec = yaml(text.append("}").toString());
      for (Kind kind : Kind.values()) {
        ReservationReader.Reading reading = ReservationReader.read(kind, spec);
        assertThat(reading.spec().isPresent()).isEqualTo(reading.faults().isEmpty());
      }
    }
  }
}
