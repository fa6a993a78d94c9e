package dev.sluice.api.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Unit;
import java.io.IOException;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Specs of Budgets, whoever wrote them, and what is said about them. */
class BudgetReaderTest {

  private static final String SCOPE = "scope: {cohort: c}, ";
  private static final String LIMITS = "limits: [{resource: cpu, hours: 1}]";

  private static BudgetReader.Reading read(String spec) throws IOException {
    JsonNode node = new YAMLMapper().readTree("{" + spec + "}");
    return BudgetReader.read("b", node);
  }

  @Test
  void defaultsAreThoseOfThePage() throws IOException {
    BudgetSpec budget = read(SCOPE + LIMITS).budget().orElseThrow();
    assertThat(budget.period().unit()).isEqualTo(Unit.MONTHLY);
    assertThat(budget.period().zone()).isEqualTo("UTC");
    assertThat(budget.holds()).isTrue();
    assertThat(budget.reserves()).isTrue();
    assertThat(budget.carryOver()).isEqualByComparingTo(BigDecimal.ZERO);
    assertThat(budget.limits().getFirst().amount())
        .isEqualByComparingTo(BigDecimal.valueOf(3_600_000_000L));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          limits: [{resource: cpu, hours: 1}]                                                 | spec.scope
          scope: {cohort: a, clusterQueue: b}, limits: [{resource: cpu, hours: 1}]            | spec.scope
          scope: {cohort: ''}, limits: [{resource: cpu, hours: 1}]                            | spec.scope.cohort
          scope: {cohort: c}                                                                  | spec.limits
          scope: {cohort: c}, limits: [{hours: 1}]                                            | spec.limits[0].resource
          scope: {cohort: c}, limits: [{resource: cpu, cost: 1}]                              | spec.limits[0]
          scope: {cohort: c}, limits: [{cost: -1}]                                            | spec.limits[0].cost
          scope: {cohort: c}, limits: [{cost: 1}, {cost: 2}]                                  | spec.limits[1]
          scope: {cohort: c}, limits: [{resource: $cost, hours: 1}]                           | spec.limits[0].resource
          scope: {cohort: c}, limits: [{resource: cpu, hours: -1}]                            | spec.limits[0].hours
          scope: {cohort: c}, limits: [{resource: cpu, hours: many}]                          | spec.limits[0].hours
          scope: {cohort: c}, limits: [{resource: cpu, hours: {a: b}}]                        | spec.limits[0].hours
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1e999999999}]                   | spec.limits[0].hours
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}, {resource: cpu, hours: 2}]  | spec.limits[1]
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}], period: Fortnightly        | spec.period
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}], timeZone: Mars/Olympus     | spec.timeZone
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}], rolling: 5m                | spec.rolling
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}], rolling: 5h, period: Daily | spec.rolling
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}], carryOver: {upTo: 2}       | spec.carryOver.upTo
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}], action: Beg                | spec.action
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}], charge: Never              | spec.charge
          scope: {cohort: c}, limits: [{resource: cpu, hours: 1}], notify: [1.5]              | spec.notify[0]
          """)
  void whatIsWrongIsNamed(String spec, String path) throws IOException {
    BudgetReader.Reading reading = read(spec);
    assertThat(reading.budget()).isEmpty();
    assertThat(reading.faults()).extracting(SpecFault::path).containsExactly(path);
  }

  @Test
  void aLimitMayBeMoney() throws IOException {
    Limit limit =
        read(SCOPE + "limits: [{cost: '2.5', flavors: [spot]}]")
            .budget()
            .orElseThrow()
            .limits()
            .getFirst();
    assertThat(limit.isCost()).isTrue();
    assertThat(limit.amount()).isEqualByComparingTo("9000000");
    assertThat(limit.counts("spot", "memory")).isTrue();
    assertThat(limit.counts("steady", "memory")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "limits: [{resource: cpu, hours: '%s'}]",
        "limits: [{resource: cpu, hours: '0.%s'}]",
        "limits: [{cost: '%s'}]",
        "limits: [{cost: '0.%s'}]",
        LIMITS + ", carryOver: {upTo: '0.%s'}",
        LIMITS + ", notify: ['0.%s']"
      })
  void aThousandDigitsAreNoQuantity(String spec) throws IOException {
    BudgetReader.Reading reading = read(SCOPE + spec.formatted("9".repeat(1_000)));
    assertThat(reading.faults()).hasSize(1);
    assertThat(reading.faults().getFirst().value()).hasSizeLessThan(80);
  }
}
