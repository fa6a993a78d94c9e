package dev.sluice.install;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.ProductLabel;
import dev.sluice.api.config.JobFrameworks;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.visibility.api.VisibilityApi;
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
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
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
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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

  /**
   * ClusterRoles that administrators bind to users: a viewer and an editor for every kind, and two
   * aggregated roles for batch administrators and batch users.
   */
  static final class UserClusterRoles {

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

    private static ClusterRole role(
        Kind kind, String what, List<String> verbs, List<String> labels) {
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

  /**
   * The labels of every object that is installed (docs/install.md#labels-and-names). Other tools
   * select by them, so name and {@code control-plane} are those that installations of this API have
   * everywhere; {@link ProductLabel} tells Sluice's objects from those of other operators.
   */
  static final class StandardLabels {

    static final String COMPONENT = "app.kubernetes.io/component";

    private static final String CONTROLLER = "controller";
    private static final Pattern METADATA = Pattern.compile("(?m)^metadata:\n((?:  .*\n)*)");
    private static final String HEADING = "  labels:\n";

    private StandardLabels() {}

    /** The labels that are the same everywhere, in the order of their names. */
    private static Map<String, String> common() {
      return new TreeMap<>(
          Map.of(
              "app.kubernetes.io/instance",
              "kueue",
              "app.kubernetes.io/name",
              "kueue",
              ProductLabel.KEY,
              ProductLabel.VALUE,
              "app.kubernetes.io/version",
              InstallManifests.version(),
              "control-plane",
              "controller-manager"));
    }

    /** Gives the labels to an object that says its component, or belongs to the controller. */
    static <T extends HasMetadata> T on(T object) {
      Map<String, String> labels = new TreeMap<>(common());
      labels.put(COMPONENT, CONTROLLER);
      if (object.getMetadata().getLabels() != null) {
        labels.putAll(object.getMetadata().getLabels());
      }
      object.getMetadata().setLabels(labels);
      return object;
    }

    /** The same in the text of a manifest, whose comments and order stay. */
    static String in(String document) {
      Matcher metadata = METADATA.matcher(document);
      if (!metadata.find()) {
        throw new IllegalStateException("no metadata in a manifest:\n" + document);
      }
      String fields = metadata.group(1);
      StringBuilder lines = new StringBuilder(HEADING);
      if (!fields.contains("    " + COMPONENT + ": ")) {
        lines.append(line(COMPONENT, CONTROLLER));
      }
      common().forEach((name, value) -> lines.append(line(name, value)));
      String changed =
          fields.contains(HEADING) ? fields.replace(HEADING, lines.toString()) : fields + lines;
      return document.substring(0, metadata.start(1))
          + changed
          + document.substring(metadata.end(1));
    }

    private static String line(String name, String value) {
      return "    " + name + ": " + value + "\n";
    }
  }
}
