package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.install.InstallManifests.UserClusterRoles;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What operators asked API servers for, held against the permissions that are shipped: which of
 * these were used, and what was asked for without one. The account that a manager of several
 * clusters has in a worker cluster is one of them.
 */
final class PermissionUse {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String USER = InstallManifests.user(InstallManifests.NAMESPACE);
  private static final String MANAGER = InstallManifests.managerInWorkers();

  /** Roles of people, and of those who read metrics; the operator isn't bound to them. */
  private static final Set<String> OF_OTHERS =
      Set.of("kueue-metrics-reader", "kueue-explain-viewer-role");

  /** What everybody may ask about himself. */
  private static final Set<String> ABOUT_ONESELF =
      Set.of("selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews");

  private final List<Permission> granted = new ArrayList<>();
  private final SortedSet<String> used = new TreeSet<>();
  private final SortedSet<String> usedInWorkers = new TreeSet<>();
  private final SortedSet<String> missing = new TreeSet<>();

  /**
   * One verb on one resource.
   *
   * @param user who may do it
   * @param namespace the only namespace; empty: all
   * @param names the only names; empty: all
   */
  private record Permission(
      String user,
      String role,
      String namespace,
      String group,
      String resource,
      List<String> names,
      String verb) {

    boolean covers(JsonNode entry) {
      JsonNode object = entry.path("objectRef");
      String sub = object.path("subresource").asText();
      String asked = object.path("resource").asText() + (sub.isEmpty() ? "" : "/" + sub);
      return user.equals(entry.at("/user/username").asText())
          && verb.equals(entry.path("verb").asText())
          && group.equals(object.path("apiGroup").asText())
          && resource.equals(asked)
          && (namespace.isEmpty() || namespace.equals(object.path("namespace").asText()))
          && (names.isEmpty() || names.contains(object.path("name").asText()));
    }

    String text() {
      return "%s: %s %s%s"
          .formatted(
              role,
              verb,
              resource + (group.isEmpty() ? "" : "." + group),
              names.isEmpty() ? "" : " " + String.join(",", names));
    }
  }

  /** With the permissions of the shipped files, those for Kube Queue included. */
  PermissionUse() {
    List<HasMetadata> objects =
        new ArrayList<>(InstallManifests.permissions(InstallManifests.NAMESPACE));
    objects.removeAll(UserClusterRoles.all());
    objects.addAll(InstallManifests.kubeQueuePermissions(InstallManifests.NAMESPACE));
    grant(USER, objects);
    grant(MANAGER, InstallManifests.workerAccount());
    for (String verb : List.of("get", "list", "watch")) {
      granted.add(
          new Permission(
              USER,
              "extension-apiserver-authentication-reader",
              "kube-system",
              "",
              "configmaps",
              List.of("extension-apiserver-authentication"),
              verb));
    }
  }

  private void grant(String user, List<HasMetadata> objects) {
    for (HasMetadata object : objects) {
      String name = object.getMetadata().getName();
      if (object instanceof ClusterRole role && !OF_OTHERS.contains(name)) {
        role.getRules().forEach(rule -> grant(user, name, "", rule));
      } else if (object instanceof Role role) {
        role.getRules().forEach(rule -> grant(user, name, role.getMetadata().getNamespace(), rule));
      }
    }
  }

  private void grant(String user, String role, String namespace, PolicyRule rule) {
    for (String group : rule.getApiGroups()) {
      for (String resource : rule.getResources()) {
        for (String verb : rule.getVerbs()) {
          granted.add(
              new Permission(
                  user, role, namespace, group, resource, rule.getResourceNames(), verb));
        }
      }
    }
  }

  /** All permissions of the operator's own roles, as text. */
  SortedSet<String> granted() {
    SortedSet<String> texts = new TreeSet<>();
    granted.stream()
        .filter(each -> each.user().equals(USER) && !each.role().startsWith("extension-"))
        .forEach(each -> texts.add(each.text()));
    return texts;
  }

  /** Adds what an audit log tells. */
  void read(Path log) {
    try (Stream<String> lines = Files.lines(log)) {
      lines.forEach(this::read);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(String line) {
    JsonNode entry;
    try {
      entry = JSON.readTree(line);
    } catch (IOException cut) {
      return; // the last line, while it is written
    }
    JsonNode object = entry.path("objectRef");
    String uri = entry.path("requestURI").asText();
    String user = entry.at("/user/username").asText();
    if (!(user.equals(USER) || user.equals(MANAGER))
        || object.isMissingNode()
        || !object.has("resource")
        || ABOUT_ONESELF.contains(object.path("resource").asText())
        || uri.contains("fieldManager=sluice-install")) {
      return;
    }
    List<Permission> covering = granted.stream().filter(each -> each.covers(entry)).toList();
    covering.stream()
        .filter(each -> !each.role().startsWith("extension-"))
        .forEach(each -> (user.equals(USER) ? used : usedInWorkers).add(each.text()));
    if (covering.isEmpty()) {
      String sub = object.path("subresource").asText();
      String group = object.path("apiGroup").asText();
      missing.add(
          "%s%s %s in \"%s\" by name \"%s\""
              .formatted(
                  user.equals(USER) ? "" : "in a worker: ",
                  entry.path("verb").asText(),
                  object.path("resource").asText()
                      + (sub.isEmpty() ? "" : "/" + sub)
                      + (group.isEmpty() ? "" : "." + group),
                  object.path("namespace").asText(),
                  object.path("name").asText()));
    }
  }

  /** The permissions of the operator that were used, as text. */
  SortedSet<String> used() {
    return used;
  }

  /** What was asked for without a permission. */
  SortedSet<String> missing() {
    return missing;
  }

  /** Prints what the audit logs of a directory tell: {@code PermissionUse DIRECTORY}. */
  public static void main(String[] arguments) throws IOException {
    PermissionUse use = new PermissionUse();
    try (Stream<Path> files = Files.list(Path.of(arguments[0]))) {
      files.filter(file -> file.toString().endsWith(".log")).forEach(use::read);
    }
    use.used().forEach(System.out::println);
    use.usedInWorkers.forEach(each -> System.out.println("in a worker: " + each));
    use.missing().forEach(each -> System.out.println("missing: " + each));
  }
}
