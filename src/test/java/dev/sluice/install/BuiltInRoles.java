package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import java.time.Duration;
import java.util.List;

/**
 * What people may do whom an administrator bound to the roles that every cluster has: view, edit
 * and admin gather the viewers of this API (docs/install.md#roles-for-people).
 */
record BuiltInRoles(TestCluster cluster) {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final List<String> ROLES = List.of("view", "edit", "admin");
  private static final String VISIBILITY = "visibility.kueue.x-k8s.io";

  /** Asks the API server about each role, in the test's namespace and in the whole cluster. */
  void judge() {
    for (String role : ROLES) {
      cluster.applyText(
          """
          apiVersion: rbac.authorization.k8s.io/v1
          kind: RoleBinding
          metadata: {name: built-in-%1$s, namespace: "${namespace}"}
          roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %1$s}
          subjects: [{kind: User, name: "in-namespace-%1$s", apiGroup: rbac.authorization.k8s.io}]
          ---
          apiVersion: rbac.authorization.k8s.io/v1
          kind: ClusterRoleBinding
          metadata: {name: "built-in-%1$s-${suffix}"}
          roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %1$s}
          subjects: [{kind: User, name: "in-cluster-%1$s", apiGroup: rbac.authorization.k8s.io}]
          """
              .formatted(role));
    }
    for (String role : ROLES) {
      String user = "in-namespace-" + role;
      for (String verb : List.of("get", "list", "watch")) {
        awaitAllowed(user, verb, "kueue.x-k8s.io", "workloads", "");
        awaitAllowed(user, verb, "kueue.x-k8s.io", "localqueues", "");
        awaitAllowed(user, verb, "jobset.x-k8s.io", "jobsets", "");
        awaitAllowed(user, verb, "ray.io", "rayjobs", "");
        awaitAllowed(user, verb, VISIBILITY, "localqueues", "pendingworkloads");
      }
      assertThat(isAllowed(user, "delete", "kueue.x-k8s.io", "workloads", "")).isFalse();
      assertThat(isAllowed(user, "create", "kueue.x-k8s.io", "localqueues", "")).isFalse();
      assertThat(
              isAllowed(
                  "in-cluster-" + role, "get", VISIBILITY, "clusterqueues", "pendingworkloads"))
          .isTrue();
      for (String kind : List.of("clusterqueues", "cohorts", "resourceflavors", "topologies")) {
        assertThat(isAllowed("in-cluster-" + role, "list", "kueue.x-k8s.io", kind, ""))
            .as(role + " lists " + kind)
            .isEqualTo(role.equals("admin"));
        assertThat(isAllowed("in-cluster-" + role, "create", "kueue.x-k8s.io", kind, "")).isFalse();
      }
    }
  }

  /** Roles are gathered some moments after they were made. */
  private void awaitAllowed(
      String user, String verb, String group, String resource, String subresource) {
    await(user + " may " + verb + " " + resource + "." + group)
        .atMost(LIMIT)
        .until(() -> isAllowed(user, verb, group, resource, subresource));
  }

  private boolean isAllowed(
      String user, String verb, String group, String resource, String subresource) {
    return cluster
        .client()
        .authorization()
        .v1()
        .subjectAccessReview()
        .create(
            new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser(user)
                .withNewResourceAttributes()
                .withNamespace(user.startsWith("in-namespace") ? cluster.namespace() : "")
                .withVerb(verb)
                .withGroup(group)
                .withResource(resource)
                .withSubresource(subresource)
                .endResourceAttributes()
                .endSpec()
                .build())
        .getStatus()
        .getAllowed();
  }
}
