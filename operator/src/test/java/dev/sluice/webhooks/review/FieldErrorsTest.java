package dev.sluice.webhooks.review;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.webhooks.rules.JobMetadataValidation.AdmissionGateValidation;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is said about an object is bounded, however much is wrong with it. */
class FieldErrorsTest {

  private static final FieldPath PATH = FieldPath.of("spec", "names");

  private static FieldErrors of(int count) {
    FieldErrors bad = new FieldErrors();
    for (int i = 0; i < count; i++) {
      bad.invalid(PATH.index(i), "x", "must be a name");
    }
    return bad;
  }

  private static List<String> messages(List<FieldError> errors) {
    return AdmissionResult.of(errors) instanceof AdmissionResult.Rejected rejected
        ? rejected.errors().stream().map(FieldError::message).toList()
        : List.of();
  }

  @Test
  void twentyErrorsAreShownAndTheOthersCounted() {
    assertThat(messages(of(20).errors())).hasSize(20).noneMatch(it -> it.contains("more"));
    assertThat(messages(of(21).errors())).hasSize(21).last().isEqualTo("and 1 more error");
    assertThat(of(300_000).errors()).hasSize(FieldErrors.MOST_KEPT + 1);
    assertThat(messages(of(300_000).errors()))
        .hasSize(21)
        .startsWith("spec.names[0]: Invalid value: \"x\": must be a name")
        .last()
        .isEqualTo("and 299980 more errors");
  }

  @Test
  void valuesPathsAndAllowedValuesAreCut() {
    FieldErrors bad = new FieldErrors();
    ObjectNode large = JsonNodeFactory.instance.objectNode();
    large.put("text", "x".repeat(1_000_000));
    bad.invalid(PATH.key("k".repeat(1_000_000)), large, "r".repeat(1_000_000));
    bad.invalid(PATH, "v".repeat(1_000_000), "must be a name");
    bad.notSupported(
        PATH, "v", IntStream.range(0, 100_000).mapToObj(i -> "n" + i).collect(Collectors.toList()));

    assertThat(messages(bad.errors()))
        .allSatisfy(message -> assertThat(message).hasSizeLessThan(5000));
    assertThat(messages(bad.errors()).get(1)).contains("(1000000 characters)");
    assertThat(messages(bad.errors()).getLast()).endsWith("and 99980 more");
  }

  /** Commas alone are one error, and a text beyond the limit isn't taken apart. */
  @Test
  void aListOfGatesIsBoundedInLength() {
    FieldErrors commas = new FieldErrors();
    AdmissionGateValidation.validateObject(gates(",".repeat(4000)), commas);
    FieldErrors longer = new FieldErrors();
    AdmissionGateValidation.validateObject(gates(",".repeat(255_000)), longer);
    FieldErrors added = new FieldErrors();
    AdmissionGateValidation.validateUpdate(gates("a.b/c"), gates("a.b/d,".repeat(40_000)), added);

    assertThat(commas.errors()).hasSize(1);
    assertThat(longer.errors())
        .singleElement()
        .satisfies(
            error ->
                assertThat(error.message())
                    .hasSizeLessThan(1000)
                    .startsWith("metadata.annotations[kueue.x-k8s.io/admission-gated-by]")
                    .endsWith("must have at most 4096 characters, it has 255000 of them"));
    assertThat(added.errors()).hasSize(1);
  }

  private static Map<String, String> gates(String value) {
    return Map.of(KueueConstants.ADMISSION_GATED_BY, value);
  }
}
