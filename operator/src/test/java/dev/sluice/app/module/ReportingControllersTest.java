package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.app.module.OperatorContext.ReportingControllers;
import dev.sluice.kube.events.ObjectReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportingControllersTest {

  @ParameterizedTest
  @CsvSource({
    "kueue.x-k8s.io/v1beta2, Workload, QuotaReserved, kueue-admission",
    "kueue.x-k8s.io/v1beta2, Workload, WaitingForQuota, kueue-admission",
    "kueue.x-k8s.io/v1beta2, Workload, EvictedDueToPreempted, kueue-workload-controller",
    "kueue.x-k8s.io/v1beta2, ClusterQueue, Any, kueue-clusterqueue-controller",
    "batch/v1, Job, Started, batch/job-kueue-controller",
    "jobset.x-k8s.io/v1alpha2, JobSet, Started, jobset.x-k8s.io/jobset-kueue-controller",
    "v1, Pod, ExcessPodDeleted, pod-kueue-controller",
    "kubeflow.org/v2beta1, MPIJob, Started, kubeflow.org/mpijob-kueue-controller",
    "v1, Node, Any, kueue.x-k8s.io/sluice",
  })
  void eventsNameTheControllerThatPeopleSelectBy(
      String apiVersion, String kind, String reason, String controller) {
    ObjectReference about = new ObjectReference(apiVersion, kind, "team", "name", "uid");

    assertThat(ReportingControllers.of(about, reason)).isEqualTo(controller);
  }
}
