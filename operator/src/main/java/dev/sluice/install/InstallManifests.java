package dev.sluice.install;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.config.JobFrameworks;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.APIService;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All objects that are installed in addition to the CustomResourceDefinitions. */
public final class InstallManifests {

  /** The namespace of the shipped manifests. */
  public static final String NAMESPACE = "kueue-system";

  /** The Service through which the API server reaches the webhooks. */
  public static final String WEBHOOK_SERVICE = "kueue-webhook-service";

  /** The Service through which the API server reaches the visibility API. */
  public static final String VISIBILITY_SERVICE = "kueue-visibility-server";

  /** The operator's service account. */
  public static final String SERVICE_ACCOUNT = "kueue-controller-manager";

  /** The account of a manager of several clusters in a worker cluster. */
  public static final String WORKER_ACCOUNT = "sluice-manager";

  /** The policies that name no user: whoever has certain rights passes. */
  private static final Set<String> WITHOUT_USER = Set.of("kueue-held-pods", "kueue-child-jobs");

  private static final Set<String> POLICIES =
      Set.of("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding");

  private static final Set<String> PERMISSIONS =
      Set.of(
          "ClusterRole",
          "ClusterRoleBinding",
          "PriorityClass",
          "Role",
          "RoleBinding",
          "ServiceAccount");

  /** The line of base.yaml that stands for the rules of the kinds of jobs. */
  private static final String KINDS_OF_JOBS = "# KINDS OF JOBS\n";

  /** The line of base.yaml that stands for the frameworks of the shipped configuration. */
  private static final String FRAMEWORKS = "      # FRAMEWORKS\n";

  private static final Pattern IMAGE = Pattern.compile("(?m)^ +image: sluice:(.*)$");

  /**
   * The kinds of objects in the manifests. A serialization that finds kinds by itself loads the
   * classes of all 400 that its libraries know, and a running operator reads its own permissions.
   */
  private static final List<Class<? extends HasMetadata>> KINDS =
      List.of(
          APIService.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          ConfigMap.class,
          Deployment.class,
          Namespace.class,
          PodDisruptionBudget.class,
          PriorityClass.class,
          Role.class,
          RoleBinding.class,
          Service.class,
          ServiceAccount.class,
          ValidatingAdmissionPolicy.class,
          ValidatingAdmissionPolicyBinding.class);

  private InstallManifests() {}

  /** The user name of the operator's service account in this namespace. */
  public static String user(String namespace) {
    return "system:serviceaccount:" + namespace + ":" + SERVICE_ACCOUNT;
  }

  /** The user name of a manager of several clusters in a worker cluster. */
  public static String managerInWorkers() {
    return "system:serviceaccount:" + NAMESPACE + ":" + WORKER_ACCOUNT;
  }

  /**
   * The objects that an operator outside of the cluster needs: the namespace, the service account
   * and the roles, including those for users.
   *
   * @param namespace the operator's own namespace
   */
  public static List<HasMetadata> permissions(String namespace) {
    List<HasMetadata> objects = new ArrayList<>();
    for (HasMetadata object : base(namespace)) {
      if (object.getKind().equals("Namespace") || PERMISSIONS.contains(object.getKind())) {
        objects.add(object);
      }
    }
    objects.addAll(UserClusterRoles.all());
    return objects;
  }

  /**
   * The policies that hold pods and jobs for the operator and for controllers, and their bindings:
   * those that suit any user that an operator runs as.
   *
   * @param namespace the operator's own namespace
   */
  static List<HasMetadata> policies(String namespace) {
    return base(namespace).stream()
        .filter(object -> POLICIES.contains(object.getKind()))
        .filter(object -> WITHOUT_USER.contains(object.getMetadata().getName()))
        .toList();
  }

  /** Both webhook configurations. */
  public static List<HasMetadata> webhooks(WebhookRegistration registration) {
    WebhookConfigurations webhooks = new WebhookConfigurations(registration);
    return List.of(
        StandardLabels.on(webhooks.mutating()), StandardLabels.on(webhooks.validating()));
  }

  /** The Service of the visibility API and its APIServices, as the manifest has them. */
  static List<HasMetadata> visibility(String namespace) {
    return base(namespace).stream()
        .filter(
            object ->
                object instanceof APIService
                    || (object instanceof Service
                        && object.getMetadata().getName().equals(VISIBILITY_SERVICE)))
        .toList();
  }

  /** The objects of the base manifest, for another namespace. */
  private static List<HasMetadata> base(String namespace) {
    return objects(documents().stream(), namespace);
  }

  private static List<HasMetadata> objects(Stream<String> documents, String namespace) {
    KubernetesSerialization serialization = new KubernetesSerialization(new ObjectMapper(), false);
    KINDS.forEach(serialization::registerKubernetesResource);
    return documents
        .map(text -> text.replace(NAMESPACE, namespace))
        .<HasMetadata>map(text -> serialization.unmarshal(text, HasMetadata.class))
        .toList();
  }

  /** The base manifest, one element per document, for the shipped namespace. */
  static List<String> documents() {
    return documents(BuiltInIntegrations.descriptions());
  }

  /** The same, with the operator's rights on these kinds of jobs. */
  static List<String> documents(List<JobKindDescription> kinds) {
    String text = replace(baseText(), KINDS_OF_JOBS, JobKindRules.text(kinds));
    return labelled(replace(text, FRAMEWORKS, frameworks()));
  }

  private static List<String> labelled(String text) {
    return Stream.of(text.split("(?m)^---\n", -1)).map(StandardLabels::in).toList();
  }

  /** The version that the shipped manifests install: that of their image. */
  static String version() {
    Matcher image = IMAGE.matcher(baseText());
    if (!image.find()) {
      throw new IllegalStateException("no image of Sluice in base.yaml");
    }
    return image.group(1);
  }

  private static String replace(String text, String line, String by) {
    if (!text.contains(line)) {
      throw new IllegalStateException("no line \"" + line.strip() + "\" in a manifest");
    }
    return text.replace(line, by);
  }

  private static String frameworks() {
    return JobFrameworks.shipped().stream()
        .map(name -> "      - " + name + "\n")
        .collect(Collectors.joining());
  }

  /** What the operator may do besides where it makes queues from the quotas of Kube Queue. */
  static List<HasMetadata> kubeQueuePermissions(String namespace) {
    return objects(Stream.of(kubeQueueText().split("(?m)^---\n", -1)), namespace);
  }

  /** The same as text, for the shipped namespace. */
  static String kubeQueueText() {
    return String.join("---\n", labelled(text("kube-queue.yaml")));
  }

  /**
   * The account of a manager of several clusters in a worker cluster, for the shipped namespace;
   * with rights on every kind of job that can be sent.
   */
  public static List<HasMetadata> workerAccount() {
    return objects(Stream.of(workerAccountText().split("(?m)^---\n", -1)), NAMESPACE);
  }

  /** The same as text. */
  static String workerAccountText() {
    return replace(
        text("worker-account.yaml"),
        KINDS_OF_JOBS,
        JobKindRules.remoteText(BuiltInIntegrations.descriptions()));
  }

  /** What holds for queued jobs while no operator is there, as text, for the shipped namespace. */
  static String queuedJobsText() {
    return String.join("---\n", labelled(text("queued-jobs.yaml")));
  }

  private static String baseText() {
    return text("base.yaml");
  }

  private static String text(String file) {
    try (InputStream in = InstallManifests.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is missing beside " + InstallManifests.class);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The rules of the operator's ClusterRole for the kinds of jobs, as each integration states them.
   */
  private static final class JobKindRules {

    private JobKindRules() {}

    /** The items of a list of rules in YAML, with a comment for each kind. */
    static String text(List<JobKindDescription> kinds) {
      return kinds.stream()
          .filter(kind -> !kind.roles().isEmpty())
          .map(JobKindRules::text)
          .collect(Collectors.joining());
    }

    /** The same for what a manager of several clusters does with jobs in a worker cluster. */
    static String remoteText(List<JobKindDescription> kinds) {
      return kinds.stream()
          .flatMap(
              kind ->
                  kind.multiKueue().stream()
                      .map(rules -> heading(kind) + text(remote(kind, rules))))
          .collect(Collectors.joining());
    }

    /** Pods, and jobs that are known by their pods, are made and deleted, and never changed. */
    private static RbacRule remote(JobKindDescription kind, MultiKueueRules rules) {
      boolean changed =
          switch (rules.pods()) {
            case ITSELF, MADE -> false;
            case NONE, MADE_IN_GROUPS -> true;
          };
      List<String> verbs =
          changed
              ? List.of("create", "delete", "get", "list", "patch", "watch")
              : List.of("create", "delete", "get", "list", "watch");
      return new RbacRule(kind.kind().group(), kind.kind().plural(), verbs);
    }

    private static String heading(JobKindDescription kind) {
      return "# %s of %s\n".formatted(kind.kind().kind(), kind.kind().apiVersion());
    }

    private static String text(JobKindDescription kind) {
      return heading(kind)
          + kind.roles().stream().map(JobKindRules::text).collect(Collectors.joining());
    }

    private static String text(RbacRule rule) {
      return """
      - apiGroups: [%s]
        resources: [%s]
        verbs: [%s]
      """
          .formatted(
              rule.group().isEmpty() ? "\"\"" : rule.group(),
              rule.resource(),
              String.join(", ", rule.verbs()));
    }
  }
}
