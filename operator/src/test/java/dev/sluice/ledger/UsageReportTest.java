package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.ledger.UsageQuery.Span;
import dev.sluice.ledger.UsageReport.Format;
import dev.sluice.ledger.UsageRows.Money;
import dev.sluice.ledger.UsageRows.UsageRow;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Questions to the ledger, and the forms of its answers. */
class UsageReportTest {

  private static final Instant DAY = Instant.parse("2026-03-01T00:00:00Z");

  private static UsageRow row(String queue, String team, String resource, long units) {
    return row(queue, team, resource, units, BigDecimal.ZERO);
  }

  private static UsageRow row(
      String queue, String team, String resource, long units, BigDecimal cost) {
    Map<String, String> by = new LinkedHashMap<>();
    by.put("namespace", queue);
    by.put("label:team", team);
    BigDecimal seconds = BigDecimal.valueOf(units).multiply(BigDecimal.valueOf(3_600));
    return new UsageRow(
        new Span(DAY, DAY.plus(Duration.ofDays(1))),
        by,
        "spot",
        resource,
        seconds.add(new BigDecimal("0.001")),
        seconds,
        BigDecimal.ZERO,
        new Money(cost, cost.signum() == 0 ? cost : new BigDecimal("0.25")));
  }

  private final UsageReport report =
      new UsageReport(
          new UsageRows(
              List.of(
                  row("alpha", "=cmd()", "cpu", 48),
                  row("alpha", "=cmd()", "memory", 24L << 30),
                  row("beta", "a,\"b\"", "nvidia.com/gpu", 2)),
              false,
              "",
              List.of()));

  private final UsageReport priced =
      new UsageReport(
          new UsageRows(
              List.of(
                  row("alpha", "red", "cpu", 48, new BigDecimal("1.488")),
                  row("beta", "red", "nvidia.com/gpu", 2, new BigDecimal("4.2"))),
              false,
              "EUR",
              List.of("team")));

  @Test
  void costsAreThereWhereThereArePrices() throws IOException {
    assertThat(priced.in(Format.TABLE))
        .isEqualTo(
            """
            NAMESPACE  LABEL:TEAM  FLAVOR  RESOURCE        RESERVED    RUN  WAITED  LOST  UNIT                  COST EUR  SAVED
            alpha      red         spot    cpu                48.00  48.00    0.00  0.00  Core-Hours                1.49   0.25
            beta       red         spot    nvidia.com/gpu      2.00   2.00    0.00  0.00  nvidia.com/gpu-Hours      4.20   0.25
            total                                                                                                   5.69   0.50
            """);
    assertThat(priced.in(Format.CSV).lines().toList().get(1)).endsWith(",1.488,0.25");
    assertThat(priced.in(Format.FOCUS).lines().toList().get(1)).startsWith("1.488,EUR,Usage,");
    JsonNode set = new ObjectMapper().readTree(priced.in(Format.OPENCOST)).at("/data/0");
    assertThat(set.at("/alpha~1red/cpuCost").asDouble()).isEqualTo(1.488);
    assertThat(set.at("/beta~1red/totalCost").asDouble()).isEqualTo(4.2);
    JsonNode document = new ObjectMapper().readTree(priced.in(Format.JSON));
    assertThat(new UsageReport(UsageDocument.parse(document)).in(Format.FOCUS))
        .isEqualTo(priced.in(Format.FOCUS));
  }

  @Test
  void tablesAreForPeople() throws IOException {
    assertThat(report.in(Format.TABLE))
        .isEqualTo(
            """
            NAMESPACE  LABEL:TEAM  FLAVOR  RESOURCE        RESERVED    RUN  WAITED  LOST  UNIT
            alpha      =cmd()      spot    cpu                48.00  48.00    0.00  0.00  Core-Hours
            alpha      =cmd()      spot    memory             24.00  24.00    0.00  0.00  GiB-Hours
            beta       a,"b"       spot    nvidia.com/gpu      2.00   2.00    0.00  0.00  nvidia.com/gpu-Hours
            """);
  }

  @Test
  void csvIsExactAndNoFormula() throws IOException {
    assertThat(report.in(Format.CSV).lines())
        .startsWith(
            "since,until,namespace,label:team,flavor,resource,reserved,run,waited,lost,cost,saved",
            "2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,alpha,'=cmd(),spot,cpu,172800.001,172800,0.001,0,0,0")
        .last()
        .asString()
        .contains("beta,\"a,\"\"b\"\"\",spot");
  }

  @Test
  void jsonIsReadBack() throws IOException {
    JsonNode document = new ObjectMapper().readTree(report.in(Format.JSON));
    UsageRows read = UsageDocument.parse(document);
    assertThat(new UsageReport(read).in(Format.CSV)).isEqualTo(report.in(Format.CSV));
    assertThat(document.at("/rows/0/reserved").asText()).isEqualTo("172800.001");
  }

  @Test
  void focusHasItsColumns() throws IOException {
    List<String> lines = report.in(Format.FOCUS).lines().toList();
    List<String> columns = List.of(lines.getFirst().split(","));
    List<String> first = List.of(lines.get(1).split(",", -1));
    assertThat(columns).startsWith("BilledCost").contains("ConsumedQuantity", "x_Namespace");
    assertThat(first.get(columns.indexOf("ConsumedUnit"))).isEqualTo("Core-Hours");
    assertThat(first.get(columns.indexOf("ConsumedQuantity"))).startsWith("48.00000027777");
    assertThat(first.get(columns.indexOf("SubAccountId"))).isEqualTo("alpha");
    assertThat(first.get(columns.indexOf("BilledCost"))).isEmpty();
    assertThat(lines.get(1)).contains("\"\"team\"\":\"\"=cmd()\"\"");
  }

  @Test
  void openCostHasItsFields() throws IOException {
    JsonNode set = new ObjectMapper().readTree(report.in(Format.OPENCOST)).at("/data/0");
    JsonNode alpha = set.path("alpha/=cmd()");
    assertThat(alpha.at("/properties/namespace").asText()).isEqualTo("alpha");
    assertThat(alpha.at("/properties/labels/team").asText()).isEqualTo("=cmd()");
    assertThat(alpha.path("minutes").asLong()).isEqualTo(1_440);
    assertThat(alpha.path("cpuCoreHours").asDouble()).isBetween(48.0, 48.001);
    assertThat(alpha.path("cpuCores").asDouble()).isBetween(2.0, 2.001);
    assertThat(alpha.path("ramBytes").asDouble())
        .isBetween((double) (1L << 30), 1.001 * (1L << 30));
    assertThat(set.at("/beta~1a,\"b\"/gpuHours").asDouble()).isBetween(2.0, 2.001);
  }

  @Test
  void nothingIsAnEmptyReport() throws IOException {
    UsageReport nothing = new UsageReport(new UsageRows(List.of(), false, "", List.of()));
    for (Format format : Format.values()) {
      assertThat(nothing.in(format)).endsWith("\n");
    }
  }

  @Test
  void spansAreThoseOfTheCalendar() {
    Instant since = Instant.parse("2026-01-30T12:00:00Z");
    Instant until = Instant.parse("2026-03-01T06:00:00Z");
    assertThat(UsageQuery.of("month,queue", since, until, Optional.empty()).spans())
        .containsExactly(
            new Span(since, Instant.parse("2026-02-01T00:00:00Z")),
            new Span(Instant.parse("2026-02-01T00:00:00Z"), Instant.parse("2026-03-01T00:00:00Z")),
            new Span(Instant.parse("2026-03-01T00:00:00Z"), until));
    assertThat(UsageQuery.of("day", since, until, Optional.empty()).spans()).hasSize(31);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "who|by: \"who\" is not known",
        "queue,queue|each once",
        "label:|by: \"label:\" is not known",
        "day,hour|by: \"hour\" is not known",
        "hour|at most 1000 spans",
        "queue; DROP TABLE x|is not known"
      })
  void whatIsWrongIsTold(String by, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UsageQuery.of(by, DAY, DAY.plus(Duration.ofDays(60)), Optional.empty()))
        .withMessageContaining(message);
  }

  @Test
  void timesHaveAnOrder() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> UsageQuery.of("", DAY, DAY, Optional.empty()));
  }
}
