package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.workload.record.WorkloadParser;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whose pods somebody stops, by the owners of a Workload and the frameworks that are turned on. */
class AttendedKindsTest {

  private static boolean isAttended(String frameworks, String owners, String status, String labels)
      throws Exception {
    AttendedKinds attended =
        new AttendedKinds(
            ConfigurationLoader.parse(
                """
                apiVersion: config.kueue.x-k8s.io/v1beta2
                kind: Configuration
                integrations: {frameworks: [%s]}
                """
                    .formatted(frameworks),
                "",
                () -> "own"),
            gate -> false);
    String json =
        "{'metadata': {'name': 'w', 'namespace': 'team', 'labels': {%s}, 'ownerReferences': [%s]}, 'status': {%s}}"
            .formatted(labels, owners, status)
            .replace('\'', '"');
    return attended.test(new WorkloadParser().parse(json.getBytes(StandardCharsets.UTF_8)));
  }

  private static boolean isAttended(String frameworks, String owners, String status)
      throws Exception {
    return isAttended(frameworks, owners, status, "");
  }

  private static String owner(String apiVersion, String kind, boolean controller) {
    return "{'apiVersion': '%s', 'kind': '%s', 'name': 'o', 'uid': 'u', 'controller': %s}"
        .formatted(apiVersion, kind, controller);
  }

  @ParameterizedTest
  @CsvSource({
    "batch/job,                           batch/v1,               Job,         true",
    "pod,                                 batch/v1,               Job,         false",
    "batch/job,                           example.test/v1,        Flow,        false",
    "batch/job,                           example.test/v1,        Job,         false",
    "jobset.x-k8s.io/jobset,              jobset.x-k8s.io/v1,     JobSet,      true",
    "kubeflow.org/tfjob,                  kubeflow.org/v1,        TFJob,       true",
    "statefulset,                         v1,                     Pod,         true",
    "batch/job,                           v1,                     Pod,         false"
  })
  void theControllersKindDecides(
      String frameworks, String apiVersion, String kind, boolean attended) throws Exception {
    assertThat(isAttended(frameworks, owner(apiVersion, kind, true), "")).isEqualTo(attended);
  }

  /** Even a kind of this program, if its own controller queues its jobs. */
  @ParameterizedTest
  @CsvSource({
    "Flow.v1.example.test,                    example.test/v2,        Flow,   true",
    "Flow.v1.example.test,                    example.test/v1,        Other,  false",
    "JobSet.v1alpha2.jobset.x-k8s.io,         jobset.x-k8s.io/v1,     JobSet, true"
  })
  void anotherControllerAttendsToItsKinds(
      String external, String apiVersion, String kind, boolean attended) throws Exception {
    assertThat(
            isAttended(
                "batch/job], externalFrameworks: [" + external, owner(apiVersion, kind, true), ""))
        .isEqualTo(attended);
  }

  @ParameterizedTest
  @CsvSource({
    "batch/v1,               Job,        '',              true",
    "ray.io/v1,              RayJob,     '',              true",
    "jobset.x-k8s.io/v1,     JobSet,     from a manager,  false",
    "'',                     '',         from a manager,  true",
    "'',                     '',         '',              true",
    "example.test/v1,        Line,       '',              true"
  })
  void jobsOfSomeKindsAndThoseThatNobodyHereHandlesMayBeResized(
      String apiVersion, String kind, String origin, boolean resizable) throws Exception {
    String json =
        "{'metadata': {'name': 'w', 'namespace': 'team', 'labels': {%s}, 'ownerReferences': [%s]}}"
            .formatted(
                origin.isEmpty() ? "" : "'kueue.x-k8s.io/multikueue-origin': 'manager'",
                kind.isEmpty() ? "" : owner(apiVersion, kind, true))
            .replace('\'', '"');
    assertThat(
            AttendedKinds.isResizable(
                new WorkloadParser().parse(json.getBytes(StandardCharsets.UTF_8))))
        .isEqualTo(resizable);
  }

  @Test
  void whoMadeAWorkloadWithoutOwnerStopsItsPods() throws Exception {
    assertThat(isAttended("batch/job", "", "")).isTrue();
    assertThat(isAttended("batch/job", owner("v1", "ConfigMap", false), "")).isTrue();
  }

  @Test
  void nobodyStopsAGroupOfPodsWhereTheseAreNotManaged() throws Exception {
    assertThat(isAttended("pod", owner("v1", "Pod", false), "")).isTrue();
    assertThat(isAttended("batch/job", owner("v1", "Pod", false), "")).isFalse();
  }

  @Test
  void aWorkerClusterStopsWhatRunsThere() throws Exception {
    String owner = owner("jobset.x-k8s.io/v1alpha2", "JobSet", true);
    assertThat(isAttended("batch/job", owner, "'clusterName': 'remote'")).isTrue();
    assertThat(isAttended("batch/job", owner, "'nominatedClusterNames': ['remote']")).isFalse();
  }

  /** Above all where the fence stops the copy: the manager counts on it. */
  @Test
  void aManagerMayStopItsCopiesWhateverTheirKind() throws Exception {
    String owner = owner("jobset.x-k8s.io/v1alpha2", "JobSet", true);
    assertThat(isAttended("batch/job", owner, "", "'kueue.x-k8s.io/multikueue-origin': 'hub'"))
        .isTrue();
  }
}
