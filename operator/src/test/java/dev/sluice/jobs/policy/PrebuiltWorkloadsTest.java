package dev.sluice.jobs.policy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names of prebuilt Workloads where the gate of annotations is off. */
class PrebuiltWorkloadsTest {

  private static ObjectNode job(String name) {
    ObjectNode job = JsonNodeFactory.instance.objectNode();
    job.putObject("metadata")
        .putObject("annotations")
        .put("other", "stays")
        .put(KueueConstants.PREBUILT_WORKLOAD_NAME, name);
    return job;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 63})
  void anAnnotationIsNotFollowedWhereALabelCouldSayTheSame(int length) {
    ObjectNode job = job("a".repeat(length));
    ObjectNode expected = job.deepCopy();
    expected.withObject("/metadata/annotations").remove(KueueConstants.PREBUILT_WORKLOAD_NAME);
    assertThat(PrebuiltWorkloads.namedByLabel(job)).isEqualTo(expected);
    assertThat(job).as("the object itself stays as it is").isNotEqualTo(expected);
  }

  @Test
  void aLongNameIsFollowedAndWhatIsNoAnnotationIsLeftAlone() {
    ObjectNode job = job("a".repeat(64));
    assertThat(PrebuiltWorkloads.namedByLabel(job)).isSameAs(job);
    ObjectNode hostile = JsonNodeFactory.instance.objectNode();
    hostile.putObject("metadata").put("annotations", KueueConstants.PREBUILT_WORKLOAD_NAME);
    assertThat(PrebuiltWorkloads.namedByLabel(hostile)).isSameAs(hostile);
  }
}
