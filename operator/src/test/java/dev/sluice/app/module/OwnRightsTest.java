package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.app.module.StartRequirements.OwnRights;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceRule;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which rights are missing, by what the API server says of this process (docs/install.md). */
class OwnRightsTest {

  private static final String GROUP = "kueue.x-k8s.io";

  private static final List<PolicyRule> NEEDED =
      List.of(
          new PolicyRuleBuilder()
              .withApiGroups(GROUP)
              .withResources("workloads", "workloads/status")
              .withVerbs("list", "patch")
              .build());

  private static ResourceRule rule(String group, String resource, String... verbs) {
    return new ResourceRuleBuilder()
        .withApiGroups(group)
        .withResources(resource)
        .withVerbs(verbs)
        .build();
  }

  @Test
  void aRightIsThereByNameOrByStar() {
    assertThat(OwnRights.missing(NEEDED, List.of(rule("*", "*", "*")))).isEmpty();
    assertThat(
            OwnRights.missing(
                NEEDED,
                List.of(
                    rule(GROUP, "workloads", "list", "patch", "watch"),
                    rule(GROUP, "*/status", "*"))))
        .isEmpty();
  }

  @Test
  void whatIsMissingIsNamed() {
    assertThat(OwnRights.missing(NEEDED, List.of(rule("batch", "*", "*"))))
        .isEqualTo(
            Map.of(
                "workloads",
                new TreeSet<>(List.of("list", "patch")),
                "workloads/status",
                new TreeSet<>(List.of("list", "patch"))));
    ResourceRule some =
        new ResourceRuleBuilder(rule(GROUP, "workloads", "*")).withResourceNames("one").build();
    assertThat(OwnRights.missing(NEEDED, List.of(some, rule(GROUP, "workloads/status", "patch"))))
        .isEqualTo(
            Map.of(
                "workloads",
                new TreeSet<>(List.of("list", "patch")),
                "workloads/status",
                new TreeSet<>(List.of("list"))));
  }
}
