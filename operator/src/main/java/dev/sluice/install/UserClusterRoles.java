package dev.sluice.install;

import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.visibility.api.VisibilityApi;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * ClusterRoles that administrators bind to users: a viewer and an editor for every kind, and two
 * aggregated roles for batch administrators and batch users.
 */
public final class UserClusterRoles {

  private static final String GROUP = "kueue.x-k8s.io";
  private static final String ADMIN = "rbac.kueue.x-k8s.io/batch-admin";
  private static final String USER = "rbac.kueue.x-k8s.io/batch-user";
  private static final List<String> READ = List.of("get", "list", "watch");
  private static final List<String> EDIT =
      List.of("create", "delete", "get", "list", "patch", "update", "watch");

  /** Kinds of the operator's own API, singular and plural. */
  private static final List<Kind> OWN =
      List.of(
          new Kind("admissioncheck", GROUP, "admissionchecks", true),
          new Kind("budget", "sluice.dev", "budgets", true),
          new Kind("capacityprovider", GROUP, "capacityproviders", true),
          new Kind("capacityreservation", "sluice.dev", "capacityreservations", true),
          new Kind("clusterqueue", GROUP, "clusterqueues", true),
          new Kind("cohort", GROUP, "cohorts", true),
          new Kind("dynamicquotaorchestrator", GROUP, "dynamicquotaorchestrators", true),
          new Kind("jobkind", "sluice.dev", "jobkinds", true),
          new Kind("localqueue", GROUP, "localqueues", true),
          new Kind("maintenancewindow", "sluice.dev", "maintenancewindows", true),
          new Kind("multikueuecluster", GROUP, "multikueueclusters", true),
          new Kind("multikueueconfig", GROUP, "multikueueconfigs", false),
          new Kind("preemptionconfig", GROUP, "preemptionconfigs", false),
          new Kind("provisioningrequestconfig", GROUP, "provisioningrequestconfigs", false),
          new Kind("resourceflavor", GROUP, "resourceflavors", false),
          new Kind("topology", GROUP, "topologies", false),
          new Kind("workload", GROUP, "workloads", true),
          new Kind("workloadpriorityclass", GROUP, "workloadpriorityclasses", false));

  /** Kinds that batch users may view, in addition to the jobs that they submit. */
  private static final Set<String> FOR_USERS = Set.of("localqueue", "workload");

  /** Kinds without which nobody understands a quota: the built-in role admin may view them. */
  private static final Set<String> FOR_ADMINS =
      Set.of("clusterqueue", "cohort", "resourceflavor", "topology");

  private static final String TO_ADMIN = "rbac.authorization.k8s.io/aggregate-to-admin";

  /** Adds a role to the three that every cluster has for the people of a namespace. */
  private static final List<String> EVERYBODY =
      List.of(
          "rbac.authorization.k8s.io/aggregate-to-view",
          "rbac.authorization.k8s.io/aggregate-to-edit",
          TO_ADMIN);

  /** Says which role of which kind this is. */
  private static final String ROLE = "rbac.kueue.x-k8s.io/role";

  /** API groups whose kinds the standard roles of every cluster cover already. */
  private static final Set<String> CORE = Set.of("", "apps");

  private record Kind(String name, String group, String plural, boolean hasStatus) {}

  private UserClusterRoles() {}

  /** All roles, ordered by name within each group. */
  public static List<ClusterRole> all() {
    List<ClusterRole> roles = new ArrayList<>();
    roles.add(gathering("kueue-batch-admin-role", ADMIN));
    roles.add(gathering("kueue-batch-user-role", USER));
    for (Kind kind : OWN) {
      roles.add(role(kind, "editor", EDIT, List.of(ADMIN)));
      roles.add(role(kind, "viewer", READ, viewers(kind.name())));
    }
    for (Kind kind : jobs()) {
      roles.add(role(kind, "editor", EDIT, List.of(ADMIN, USER)));
      roles.add(role(kind, "viewer", READ, with(EVERYBODY, ADMIN, USER)));
    }
    roles.add(pending("cq", "clusterqueues", with(EVERYBODY, ADMIN)));
    roles.add(pending("lq", "localqueues", with(EVERYBODY, ADMIN, USER)));
    roles.forEach(StandardLabels::on);
    return roles;
  }

  /** Who may look at one of the operator's own kinds. */
  private static List<String> viewers(String kind) {
    if (FOR_USERS.contains(kind)) {
      return with(EVERYBODY, ADMIN, USER);
    }
    return FOR_ADMINS.contains(kind) ? List.of(ADMIN, TO_ADMIN) : List.of(ADMIN);
  }

  private static List<String> with(List<String> labels, String... more) {
    return Stream.concat(Stream.of(more), labels.stream()).toList();
  }

  private static List<Kind> jobs() {
    return BuiltInIntegrations.descriptions().stream()
        .map(JobKindDescription::kind)
        .filter(it -> !CORE.contains(it.group()))
        .map(it -> new Kind(it.kind().toLowerCase(Locale.ROOT), it.group(), it.plural(), true))
        .toList();
  }

  private static ClusterRole gathering(String name, String label) {
    return new ClusterRoleBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewAggregationRule()
        .addNewClusterRoleSelector()
        .addToMatchLabels(label, "true")
        .endClusterRoleSelector()
        .endAggregationRule()
        .build();
  }

  private static ClusterRole role(Kind kind, String what, List<String> verbs, List<String> labels) {
    ClusterRoleBuilder role =
        named(kind.name() + "-" + what, labels)
            .addNewRule()
            .withApiGroups(kind.group())
            .withResources(kind.plural())
            .withVerbs(verbs)
            .endRule();
    if (kind.name().equals("workload")) {
      role.addNewRule()
          .withApiGroups(VisibilityApi.GROUP)
          .withResources(kind.plural() + "/" + VisibilityApi.EXPLANATION)
          .withVerbs("get")
          .endRule()
          .addNewRule()
          .withApiGroups(VisibilityApi.GROUP)
          .withResources(VisibilityApi.SIMULATIONS)
          .withVerbs("create")
          .endRule();
    }
    if (kind.name().equals("budget")) {
      // Who may look at what teams may spend may look at what they spent.
      role.addNewRule()
          .withApiGroups(VisibilityApi.GROUP)
          .withResources(VisibilityApi.USAGE)
          .withVerbs("list")
          .endRule();
    }
    if (kind.name().equals("clusterqueue")) {
      // Who may read the schedules of quota may read what follows from them.
      role.addNewRule()
          .withApiGroups(VisibilityApi.GROUP)
          .withResources(VisibilityApi.QUOTA_SCHEDULES)
          .withVerbs("list")
          .endRule();
    }
    if (kind.hasStatus()) {
      role.addNewRule()
          .withApiGroups(kind.group())
          .withResources(kind.plural() + "/status")
          .withVerbs("get")
          .endRule();
    }
    return role.build();
  }

  private static ClusterRole pending(String queue, String plural, List<String> labels) {
    return named("pending-workloads-" + queue + "-viewer", labels)
        .addNewRule()
        .withApiGroups("visibility." + GROUP)
        .withResources(plural + "/pendingworkloads")
        .withVerbs(READ)
        .endRule()
        .build();
  }

  private static ClusterRoleBuilder named(String what, List<String> labels) {
    ClusterRoleBuilder role =
        new ClusterRoleBuilder()
            .withNewMetadata()
            .withName("kueue-" + what + "-role")
            .addToLabels(ROLE, what)
            .endMetadata();
    for (String label : labels) {
      role.editMetadata().addToLabels(Map.of(label, "true")).endMetadata();
    }
    return role;
  }
}
