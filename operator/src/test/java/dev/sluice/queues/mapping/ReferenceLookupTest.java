package dev.sluice.queues.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.queues.mapping.CheckControllerDescription.CheckControllers;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a ClusterQueue says of a check that keeps it from being used. */
class ReferenceLookupTest {

  private static List<InactiveReason> problems(String check) {
    ClusterQueue queue =
        Serialization.unmarshal(
            "metadata: {name: q}\n"
                + "spec: {admissionChecksStrategy: {admissionChecks: [{name: c}]}}",
            ClusterQueue.class);
    return new ReferenceLookup(
            name ->
                check.isEmpty()
                    ? Optional.empty()
                    : Optional.of(Serialization.unmarshal(check, AdmissionCheck.class)),
            name -> Optional.empty(),
            name -> true,
            new CheckControllers(List.of(CheckControllerDescription.local("example.com/budget"))))
        .problemsOf(queue);
  }

  private static String inactive(String check) {
    assertThat(problems(check))
        .singleElement()
        .satisfies(problem -> assertThat(problem.reason()).isEqualTo("AdmissionCheckInactive"));
    return problems(check).getFirst().message();
  }

  @Test
  void theCauseIsQuotedFromTheCheck() {
    assertThat(
            inactive(
                """
                metadata: {name: c}
                spec: {controllerName: example.com/other}
                status:
                  conditions:
                  - {type: Active, status: "False", reason: BadConfig, message: no such thing}
                """))
        .isEqualTo("AdmissionCheck \"c\" is not active: BadConfig: no such thing");
  }

  @Test
  void aControllerThatNobodyRunsIsNamed() {
    assertThat(inactive("metadata: {name: c}\nspec: {controllerName: example.com/bugdet}"))
        .isEqualTo(
            "AdmissionCheck \"c\" is not active: controller \"example.com/bugdet\" has not set its"
                + " condition Active; controllers of this operator: example.com/budget");
    assertThat(inactive("metadata: {name: c}\nspec: {controllerName: example.com/budget}"))
        .isEqualTo(
            "AdmissionCheck \"c\" is not active: controller \"example.com/budget\" has not set its"
                + " condition Active");
  }

  @Test
  void aCheckThatIsActiveIsNoProblem() {
    assertThat(
            problems(
                """
                metadata: {name: c}
                spec: {controllerName: example.com/other}
                status: {conditions: [{type: Active, status: "True", reason: Active, message: ""}]}
                """))
        .isEmpty();
    assertThat(problems(""))
        .singleElement()
        .satisfies(problem -> assertThat(problem.reason()).isEqualTo("AdmissionCheckNotFound"));
  }

  @Test
  void moreChecksThanAWorkloadHasRoomForAreAProblem() {
    ClusterQueue queue =
        Serialization.unmarshal(
            "metadata: {name: q}\nspec: {admissionChecksStrategy: {admissionChecks: [%s]}}"
                .formatted("{name: c}, ".repeat(9)),
            ClusterQueue.class);
    ReferenceLookup lookup =
        new ReferenceLookup(
            name ->
                Optional.of(
                    Serialization.unmarshal(
                        "metadata: {name: c}\n"
                            + "status: {conditions: [{type: Active, status: \"True\"}]}",
                        AdmissionCheck.class)),
            name -> Optional.empty(),
            name -> true,
            CheckControllers.none());

    assertThat(lookup.problemsOf(queue))
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.reason()).isEqualTo("Unknown");
              assertThat(problem.message()).contains("9 checks apply to all flavors");
            });
  }

  @ParameterizedTest
  @CsvSource({
    "kueue.x-k8s.io/provisioning-request, '', 'placed,also'",
    "kueue.x-k8s.io/provisioning-request, 'placed', placed",
    "kueue.x-k8s.io/provisioning-request, 'plain', ''",
    "example.com/other, '', ''"
  })
  void placesOfFlavorsWhoseNodesComeLaterAreDelayed(
      String controller, String onFlavors, String delayed) {
    ClusterQueue queue =
        Serialization.unmarshal(
            """
            metadata: {name: q}
            spec:
              admissionChecksStrategy: {admissionChecks: [{name: c, onFlavors: [%s]}]}
              resourceGroups:
              - coveredResources: [cpu]
                flavors:
                - {name: placed, resources: [{name: cpu, nominalQuota: "1"}]}
                - {name: also, resources: [{name: cpu, nominalQuota: "1"}]}
                - {name: plain, resources: [{name: cpu, nominalQuota: "1"}]}
            """
                .formatted(onFlavors),
            ClusterQueue.class);
    ReferenceLookup lookup =
        new ReferenceLookup(
            name ->
                Optional.of(
                    Serialization.unmarshal(
                        "metadata: {name: c}\nspec: {controllerName: %s}".formatted(controller),
                        AdmissionCheck.class)),
            name ->
                Optional.of(
                    Serialization.unmarshal(
                        "metadata: {name: f}\nspec: {%s}"
                            .formatted(name.equals("plain") ? "" : "topologyName: t"),
                        ResourceFlavor.class)),
            name -> true,
            CheckControllers.none());
    assertThat(lookup.delaysTopologyOf(queue))
        .containsExactlyInAnyOrder(delayed.isEmpty() ? new String[0] : delayed.split(","));
  }
}
