package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.controller.Integration;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.madeup.Task;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The operator's role grants what the integrations of all kinds state, and no more. */
class JobKindRulesTest {

  private static Stream<String> of(List<JobKindDescription> kinds) {
    return kinds.stream()
        .flatMap(kind -> kind.roles().stream())
        .flatMap(rule -> rule.verbs().stream().map(verb -> access(rule, verb)));
  }

  private static String access(RbacRule rule, String verb) {
    return verb + " " + rule.group() + "/" + rule.resource();
  }

  private static Stream<String> of(PolicyRule rule) {
    return rule.getApiGroups().stream()
        .flatMap(
            group ->
                rule.getResources().stream()
                    .flatMap(
                        resource ->
                            rule.getVerbs().stream()
                                .map(
                                    verb ->
                                        access(new RbacRule(group, resource, List.of()), verb))));
  }

  private static Set<String> granted(String manifest) {
    return InstallFiles.objects(manifest).stream()
        .filter(object -> object.getMetadata().getName().equals("kueue-manager-role"))
        .flatMap(role -> ((ClusterRole) role).getRules().stream())
        .flatMap(JobKindRulesTest::of)
        .collect(Collectors.toSet());
  }

  /** The copy of a job in a worker names the Workload that was sent before it. */
  @Test
  void aKindThatIsSentToWorkersMayNameAPrebuiltWorkload() {
    assertThat(BuiltInIntegrations.descriptions())
        .filteredOn(kind -> kind.multiKueue().isPresent())
        .isNotEmpty()
        .allMatch(JobKindDescription::acceptsPrebuiltWorkload);
  }

  /** An admission check asks for nodes by pods of its own, whatever the kinds. */
  private static final String PLACEHOLDERS = "create /pods";

  @Test
  void theShippedRoleGrantsWhatEveryKindNeedsAndNoMoreOfThem() throws Exception {
    List<JobKindDescription> kinds = BuiltInIntegrations.descriptions();
    Set<String> resources =
        kinds.stream()
            .flatMap(kind -> kind.roles().stream())
            .map(rule -> rule.group() + "/" + rule.resource().replaceFirst("/.*", ""))
            .collect(Collectors.toCollection(HashSet::new));
    kinds.forEach(kind -> resources.add(kind.kind().group() + "/" + kind.kind().plural()));

    Set<String> granted = granted(Files.readString(Path.of(InstallFiles.PLAIN)));

    assertThat(
            granted.stream()
                .filter(access -> resources.stream().anyMatch(it -> isOf(access, it)))
                .filter(access -> !access.equals(PLACEHOLDERS))
                .toList())
        .containsExactlyInAnyOrderElementsOf(of(kinds).distinct().toList());
  }

  @Test
  void theRoleForKubeQueueGrantsWhatItsKindsNeed() {
    List<JobKindDescription> kinds =
        BuiltInIntegrations.ofKubeQueue(InstantSource.system()).stream()
            .map(Integration::description)
            .toList();
    Set<String> granted =
        InstallManifests.kubeQueuePermissions("kueue-system").stream()
            .filter(ClusterRole.class::isInstance)
            .flatMap(role -> ((ClusterRole) role).getRules().stream())
            .flatMap(JobKindRulesTest::of)
            .collect(Collectors.toSet());

    assertThat(of(kinds).toList()).isNotEmpty().allMatch(granted::contains);
  }

  private static boolean isOf(String access, String resource) {
    String accessed = access.substring(access.indexOf(' ') + 1);
    return accessed.equals(resource) || accessed.startsWith(resource + "/");
  }

  @Test
  void aKindThatIsAddedIsGranted() {
    String role = String.join("---\n", InstallManifests.documents(List.of(new Task())));

    assertThat(granted(role))
        .contains(
            "get example.com/tasks",
            "list example.com/tasks",
            "watch example.com/tasks",
            "patch example.com/tasks",
            "patch example.com/tasks/status",
            "update example.com/tasks/finalizers");
  }
}
