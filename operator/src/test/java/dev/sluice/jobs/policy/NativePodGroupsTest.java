package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.policy.JobAction.MakePodGroup;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which PodGroups of kube-scheduler a start makes. */
class NativePodGroupsTest {

  private static final JobOptions ON =
      JobOptions.defaults("kueue-system")
          .with(JobOptions.ClusterState.NONE.withPodGroups(() -> Optional.of("v1alpha2")))
          .with(FeatureGate.WAS_POD_GROUPS, true);

  private static GivenJob asking() {
    return job()
        .spec("parallelism", "4")
        .spec("completions", "4")
        .annotation(KueueConstants.WAS_POD_GROUP, "true");
  }

  private static PodSetInfo info(int count) {
    return new PodSetInfo("main", count, Map.of(), Map.of(), Map.of(), List.of(), List.of());
  }

  private static NativePodGroups of(GivenJob job, GivenWorkload workload, JobOptions options) {
    CachedWorkload cached = workload.get();
    return NativePodGroups.of(
        job.view(),
        cached,
        List.of(
            info(cached.status().admission().orElseThrow().podSetAssignments().getFirst().count())),
        options);
  }

  private static JsonNode made(NativePodGroups groups) {
    assertThat(groups.actions()).hasSize(1);
    return ((MakePodGroup) groups.actions().getFirst()).podGroup();
  }

  private static int minCount(NativePodGroups groups) {
    return made(groups).at("/spec/schedulingPolicy/gang/minCount").asInt();
  }

  @Test
  void aPodSetGetsOneOfItsWorkload() {
    NativePodGroups groups = of(asking(), workloadOf(asking()).admitted("spot", 4), ON);
    JsonNode podGroup = made(groups);
    String name = podGroup.at("/metadata/name").asText();
    assertThat(((MakePodGroup) groups.actions().getFirst()).collection())
        .isEqualTo("/apis/scheduling.k8s.io/v1alpha2/namespaces/team/podgroups");
    assertThat(podGroup.path("apiVersion").asText()).isEqualTo("scheduling.k8s.io/v1alpha2");
    assertThat(name).startsWith(GivenWorkload.NAME + "-main-");
    assertThat(podGroup.at("/metadata/ownerReferences/0/kind").asText()).isEqualTo("Workload");
    assertThat(podGroup.at("/metadata/ownerReferences/0/name").asText())
        .isEqualTo(GivenWorkload.NAME);
    assertThat(minCount(groups)).isEqualTo(4);
    assertThat(groups.podSetInfos().getFirst().annotations())
        .containsEntry(KueueConstants.NATIVE_POD_GROUP, name);
  }

  @Test
  void fewerPodsAreWaitedForWhereFewerCome() {
    assertThat(minCount(of(asking(), workloadOf(asking()).admitted("spot", 3), ON))).isEqualTo(3);
    GivenJob begun = asking().status("succeeded", "1");
    assertThat(minCount(of(begun, workloadOf(begun).admitted("spot", 4), ON))).isEqualTo(3);
  }

  @Test
  void onePodNeedsNone() {
    GivenJob ending = asking().status("succeeded", "3");
    NativePodGroups groups = of(ending, workloadOf(ending).admitted("spot", 4), ON);
    assertThat(groups.actions()).isEmpty();
    assertThat(groups.podSetInfos()).containsExactly(info(4));
  }

  @Test
  void whoDoesNotAskGetsNone() {
    JobOptions off = ON.with(FeatureGate.WAS_POD_GROUPS, false);
    assertThat(of(asking(), workloadOf(asking()).admitted("spot", 4), off).actions()).isEmpty();
    for (GivenJob silent :
        List.of(
            job().spec("parallelism", "4"),
            asking().annotation(KueueConstants.WAS_POD_GROUP, "false"),
            asking().annotation(KueueConstants.WAS_POD_GROUP, "True"),
            asking().annotation(KueueConstants.ELASTIC_JOB, "true"))) {
      assertThat(of(silent, workloadOf(silent).admitted("spot", 4), ON).actions()).isEmpty();
    }
  }

  @Test
  void aClusterThatServesNoneIsWarnedOfAndTheJobStartsWithout() {
    JobOptions without = ON.with(JobOptions.ClusterState.NONE);
    NativePodGroups groups = of(asking(), workloadOf(asking()).admitted("spot", 4), without);
    assertThat(groups.actions())
        .singleElement()
        .isInstanceOfSatisfying(
            Warn.class, warn -> assertThat(warn.reason()).isEqualTo("PodGroupsNotServed"));
    assertThat(groups.podSetInfos()).containsExactly(info(4));
  }

  @Test
  void aLongNameIsCutAndStaysAName() {
    String dotted = "a".repeat(242) + "." + "b".repeat(10);
    GivenWorkload workload = workloadOf(asking()).admitted("spot", 4).named(dotted);
    String name = made(of(asking(), workload, ON)).at("/metadata/name").asText();
    assertThat(KubernetesNames.isSubdomain(name)).as(name).isTrue();
    String cutAtTheDot = "a".repeat(246) + ".bbbbbb";
    workload = workloadOf(asking()).admitted("spot", 4).named(cutAtTheDot);
    name = made(of(asking(), workload, ON)).at("/metadata/name").asText();
    assertThat(KubernetesNames.isSubdomain(name)).as(name).isTrue();
  }
}
