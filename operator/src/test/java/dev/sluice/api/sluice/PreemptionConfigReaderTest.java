package dev.sluice.api.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.sluice.PreemptionConfigReader.Reading;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidateSelector;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.PreemptionRule;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Trigger;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Changes of 0.20, section 6. */
class PreemptionConfigReaderTest {

  private static final PreemptionTraits NOBODY = PreemptionTraits.NONE;

  private static Reading read(String rule) {
    try {
      JsonNode spec = new YAMLMapper().readTree("rules: [" + rule + "]");
      return PreemptionConfigReader.read(
          spec, labels -> labels.matches(Map.of("pool", "spot")) ? Set.of("spot") : Set.of());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static PreemptionRule rule(String rule) {
    Reading reading = read(rule);
    assertThat(reading.faults()).isEmpty();
    return reading.config().rules().getFirst();
  }

  private static CandidateSelector selector(String selector) {
    return rule("{name: a, candidateSelectors: [{scope: WithinCohortTree, " + selector + "}]}")
        .candidates()
        .getFirst();
  }

  private static PreemptionTraits ofClass(String priorityClass, long base) {
    return new PreemptionTraits(Map.of(), Optional.of(priorityClass), base, Optional.empty());
  }

  private static PreemptionTraits ranked(String rank) {
    return new PreemptionTraits(Map.of("rank", rank), Optional.empty(), 0, Optional.empty());
  }

  private static boolean selects(
      CandidateSelector selector, PreemptionTraits candidate, PreemptionTraits preemptor) {
    return selector.selects("cq", candidate, 5, preemptor, 5);
  }

  @Test
  void withoutAClassNoNameMatchesAndNoneIsForbidden() {
    PreemptionRule among = rule("{name: a, preemptorPriorityClassSelector: {matchNames: [hero]}}");
    assertThat(among.isFor(ofClass("hero", 0))).isTrue();
    assertThat(among.isFor(ofClass("other", 0))).isFalse();
    assertThat(among.isFor(NOBODY)).isFalse();

    PreemptionRule notAmong =
        rule("{name: a, preemptorPriorityClassSelector: {notMatchNames: [hero]}}");
    assertThat(notAmong.isFor(ofClass("hero", 0))).isFalse();
    assertThat(notAmong.isFor(ofClass("other", 0))).isTrue();
    assertThat(notAmong.isFor(NOBODY)).isTrue();
  }

  @Test
  void aRuleIsForPreemptorsByLabelAndAlwaysUnlessItSaysWhen() {
    PreemptionRule rule = rule("{name: a, preemptorSelector: {matchLabels: {rank: '1'}}}");
    assertThat(rule.trigger()).isEqualTo(Trigger.ALWAYS);
    assertThat(rule.isFor(ranked("1"))).isTrue();
    assertThat(rule.isFor(ranked("2"))).isFalse();
    assertThat(rule("{name: a, activationPolicy: {trigger: InsufficientQuota}}").trigger())
        .isEqualTo(Trigger.INSUFFICIENT_QUOTA);
  }

  @ParameterizedTest
  @CsvSource({
    "LessThan, true, false, false",
    "LessThanOrEqual, true, true, false",
    "GreaterThan, false, false, true",
    "GreaterThanOrEqual, false, true, true"
  })
  void aComparisonReadsCandidateThenPreemptor(
      String comparison, boolean less, boolean equal, boolean greater) {
    CandidateSelector byLabel =
        selector("numericLabels: [{key: rank, comparison: " + comparison + "}]");
    assertThat(selects(byLabel, ranked("1"), ranked("2"))).isEqualTo(less);
    assertThat(selects(byLabel, ranked("2"), ranked("2"))).isEqualTo(equal);
    assertThat(selects(byLabel, ranked("3"), ranked("2"))).isEqualTo(greater);

    CandidateSelector byBase = selector("priority: {mode: Base, comparison: " + comparison + "}");
    assertThat(selects(byBase, ofClass("a", 1), ofClass("b", 2))).isEqualTo(less);
    assertThat(selects(byBase, ofClass("a", 2), ofClass("b", 2))).isEqualTo(equal);

    CandidateSelector boosted = selector("priority: {comparison: " + comparison + "}");
    assertThat(boosted.selects("cq", NOBODY, 1, NOBODY, 2)).isEqualTo(less);
    assertThat(boosted.selects("cq", NOBODY, 3, NOBODY, 2)).isEqualTo(greater);
  }

  @Test
  void whoHasNoNumberCountsAsTheFallbackOrNotAtAll() {
    CandidateSelector none = selector("numericLabels: [{key: rank}]");
    assertThat(selects(none, NOBODY, NOBODY)).isFalse();
    assertThat(selects(none, ranked("no"), NOBODY)).isFalse();
    assertThat(selects(none, ranked("-7"), NOBODY)).isTrue();

    CandidateSelector fallback =
        selector("numericLabels: [{key: rank, fallbackValue: 3, comparison: LessThan}]");
    assertThat(selects(fallback, NOBODY, ranked("4"))).isTrue();
    assertThat(selects(fallback, ranked("2"), NOBODY)).isTrue();
    assertThat(selects(fallback, NOBODY, NOBODY)).isFalse();

    CandidateSelector bounds = selector("numericLabels: [{key: rank, minValue: 1, maxValue: 2}]");
    assertThat(selects(bounds, ranked("0"), NOBODY)).isFalse();
    assertThat(selects(bounds, ranked("1"), NOBODY)).isTrue();
    assertThat(selects(bounds, ranked("3"), NOBODY)).isFalse();
  }

  @Test
  void candidatesAreSelectedByQueueLabelAndClass() {
    CandidateSelector spot = selector("clusterQueueSelector: {matchLabels: {pool: spot}}");
    assertThat(spot.selects("spot", NOBODY, 0, NOBODY, 0)).isTrue();
    assertThat(spot.selects("other", NOBODY, 0, NOBODY, 0)).isFalse();

    Reading reading =
        read(
            "{name: a, candidateSelectors: [{scope: AnyClusterQueue, labelSelector:"
                + " {matchExpressions: [{key: team, operator: NotIn, values: [a]}]},"
                + " numericLabels: [{key: rank, fallbackValue: 0}]}]}");
    assertThat(reading.faults()).isEmpty();
    assertThat(reading.labels()).containsExactlyInAnyOrder("team", "rank");

    CandidateSelector classes = selector("priority: {matchNames: [low]}");
    assertThat(selects(classes, ofClass("low", 0), NOBODY)).isTrue();
    assertThat(selects(classes, NOBODY, NOBODY)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{name: a, candidateSelectors: [{scope: All}]} | spec.rules[0].candidateSelectors[0].scope:"
            + " \"All\": must be one of AnyClusterQueue,",
        "{name: a, candidateSelectors: [{}]} |"
            + " spec.rules[0].candidateSelectors[0].scope: \"\": must be one of",
        "{name: a, activationPolicy: {trigger: never}} |"
            + " spec.rules[0].activationPolicy.trigger: \"never\": must be one of Always,",
        "{name: a, candidateSelectors: [{scope: WithinLocalQueue, numericLabels: [{key: a,"
            + " minValue: 2, maxValue: 1}]}]} |"
            + " spec.rules[0].candidateSelectors[0].numericLabels[0].minValue: \"2\"",
        "{name: a, candidateSelectors: [{scope: WithinLocalQueue, numericLabels: [{key: a,"
            + " fallbackValue: 1.5}]}]} |"
            + " spec.rules[0].candidateSelectors[0].numericLabels[0].fallbackValue: \"1.5\"",
        "{name: a, preemptorSelector: {matchExpressions: [{key: a, operator: In}]}} |"
            + " spec.rules[0].preemptorSelector.matchExpressions[0].values: \"[]\"",
        "{name: a, candidateSelectors: [{scope: WithinLocalQueue, priority: {mode: Raised}}]} |"
            + " spec.rules[0].candidateSelectors[0].priority.mode: \"Raised\": must be one of Base,"
      })
  void aSpecWithAFaultAddsNothingAndTellsIt(String rule, String fault) {
    Reading reading = read(rule);
    assertThat(reading.config().rules()).isEmpty();
    assertThat(reading.faults())
        .singleElement()
        .satisfies(each -> assertThat(each.toString()).startsWith(fault));
  }

  @Test
  void tooManyRulesAreNoRules() {
    Reading reading = read("{name: a},".repeat(64) + "{name: a}");
    assertThat(reading.config().rules()).isEmpty();
    assertThat(reading.faults().toString())
        .contains("spec.rules: \"65 items\": must have at most 64");
  }
}
