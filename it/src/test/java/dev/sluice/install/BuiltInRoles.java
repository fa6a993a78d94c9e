package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What people may do whom an administrator bound to the roles that every cluster has (view, edit
 * and admin gather the viewers of this API, docs/install.md#roles-for-people), and to those that
 * gather the API's editors. The table of the earlier operator's roles says what that is.
 */
record BuiltInRoles(TestCluster cluster) {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final List<String> ROLES = List.of("view", "edit", "admin");
  private static final List<String> GATHERING = List.of("batch-admin", "batch-user");
  private static final List<String> CLUSTER_WIDE =
      List.of("clusterqueues", "cohorts", "resourceflavors", "topologies");
  private static final List<String> READING = List.of("get", "list", "watch");
  private static final List<String> EDITING =
      List.of("create", "delete", "get", "list", "patch", "update", "watch");
  private static final Path TABLE =
      Path.of("it/src/test/resources/dev/sluice/install/earlier-chart/files/roles.yaml");

  /** A question to the API server. */
  private record Question(
      String user, String verb, String group, String resource, String subresource) {}

  /** Asks about each role and the whole table, and about what nobody gets by these roles. */
  void judge() throws IOException {
    List<HasMetadata> bindings = bind("kueue");
    try {
      awaitAllowed();
      ROLES.forEach(this::judgeWhatNobodyGets);
    } finally {
      bindings.forEach(binding -> cluster.client().resource(binding).delete());
    }
  }

  private void judgeWhatNobodyGets(String role) {
    String user = "in-namespace-" + role;
    assertThat(isAllowed(new Question(user, "delete", "kueue.x-k8s.io", "workloads", "")))
        .isFalse();
    assertThat(isAllowed(new Question(user, "create", "kueue.x-k8s.io", "localqueues", "")))
        .isFalse();
    for (String kind : CLUSTER_WIDE) {
      String everywhere = "in-cluster-" + role;
      assertThat(isAllowed(new Question(everywhere, "list", "kueue.x-k8s.io", kind, "")))
          .as(role + " lists " + kind)
          .isEqualTo(role.equals("admin"));
      assertThat(isAllowed(new Question(everywhere, "create", "kueue.x-k8s.io", kind, "")))
          .isFalse();
    }
  }

  /**
   * Binds a user to each role in the test's namespace, and another in the whole cluster; returns
   * the bindings.
   *
   * @param prefix how the names of the API's own roles begin
   */
  List<HasMetadata> bind(String prefix) {
    return Stream.concat(
            ROLES.stream().map(role -> bind(role, role)),
            GATHERING.stream().map(role -> bind(role, prefix + "-" + role + "-role")))
        .flatMap(List::stream)
        .toList();
  }

  private List<HasMetadata> bind(String user, String role) {
    return cluster.applyText(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: "people-%2$s", namespace: "${namespace}"}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "%2$s"}
        subjects: [{kind: User, name: "in-namespace-%1$s", apiGroup: rbac.authorization.k8s.io}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: "people-%2$s-${suffix}"}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "%2$s"}
        subjects: [{kind: User, name: "in-cluster-%1$s", apiGroup: rbac.authorization.k8s.io}]
        """
            .formatted(user, role));
  }

  /**
   * Everybody may do everything that the table says, some moments after the roles were made;
   * returns how many questions were asked.
   */
  int awaitAllowed() throws IOException {
    List<Question> all = questions();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(all.stream().filter(question -> !isAllowed(question))).isEmpty());
    return all.size();
  }

  private static List<Question> questions() throws IOException {
    List<Question> all = new ArrayList<>();
    for (JsonNode role : new YAMLMapper().readTree(Files.readString(TABLE))) {
      String group = role.path("group").asText();
      String[] resource = role.path("resource").asText().split("/", 2);
      String subresource = resource.length == 2 ? resource[1] : "";
      List<String> verbs = role.path("name").asText().endsWith("editor") ? EDITING : READING;
      for (String user : users(role.path("of"), CLUSTER_WIDE.contains(resource[0]))) {
        verbs.forEach(verb -> all.add(new Question(user, verb, group, resource[0], subresource)));
        if (role.path("status").asBoolean()) {
          all.add(new Question(user, "get", group, resource[0], "status"));
        }
      }
    }
    return all;
  }

  private static Set<String> users(JsonNode roles, boolean isClusterWide) {
    Set<String> users = new TreeSet<>();
    for (JsonNode role : roles) {
      users.add("in-cluster-" + role.asText());
      if (!isClusterWide) {
        users.add("in-namespace-" + role.asText());
      }
    }
    return users;
  }

  private boolean isAllowed(Question question) {
    return cluster
        .client()
        .authorization()
        .v1()
        .subjectAccessReview()
        .create(
            new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser(question.user())
                .withNewResourceAttributes()
                .withNamespace(
                    question.user().startsWith("in-namespace") ? cluster.namespace() : "")
                .withVerb(question.verb())
                .withGroup(question.group())
                .withResource(question.resource())
                .withSubresource(question.subresource())
                .endResourceAttributes()
                .endSpec()
                .build())
        .getStatus()
        .getAllowed();
  }
}
