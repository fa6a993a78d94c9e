package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.ProductLabel;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.Configuration.PodAccounting;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.leader.SharedObjectsGuard;
import dev.sluice.server.certificates.KubernetesSecretAccess;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.webhooks.registration.WebhookRegistration;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.PodTemplateParser;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ServiceReference;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Listable;
import java.net.HttpURLConnection;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a cluster has before Sluice takes the place of another operator of the API
 * (docs/switching.md), and says what has to be done and what will differ. It gets and lists, and
 * sends no other request.
 */
public final class Preflight {

  private static final Set<String> SELECTOR_KEYS =
      Set.of(
          "app.kubernetes.io/name",
          "app.kubernetes.io/instance",
          "app.kubernetes.io/component",
          "control-plane");

  private static final Set<String> READ_VERSIONS = Set.of("v1beta2", "v1beta1", "v1alpha2");

  private static final long PAGE = 500;
  private static final String DEPLOYMENT = "kueue-controller-manager";
  private static final String CERTIFICATES = "cert-manager.io/v1";
  private static final String[] CONTAINERS = {"containers", "initContainers"};

  private final KubernetesClient client;
  private final Configuration configuration;
  private final String namespace;
  private final AdmittedRequests requests;
  private final InstantSource clock;
  private final List<Row> rows = new ArrayList<>();
  private @Nullable RegisteredWebhooks registrations;
  private @Nullable Workloads workloads;

  /** What a row asks of the reader. */
  public enum Severity {
    /** Nothing. */
    OK,
    /** To know it: this will differ, or stays over. */
    NOTE,
    /** To do something before the switch. */
    TODO
  }

  /**
   * A line of the report.
   *
   * @param subject what was looked at
   * @param text what was found, and the command that helps
   */
  public record Row(Severity severity, String subject, String text) {}

  /**
   * Nothing is read yet.
   *
   * @param requests what quota counts of a pod with this configuration
   * @param clock by which a lease has been renewed or not
   */
  public Preflight(
      KubernetesClient client,
      Configuration configuration,
      AdmittedRequests requests,
      InstantSource clock) {
    this.client = client;
    this.configuration = configuration;
    this.namespace = configuration.namespace();
    this.requests = requests;
    this.clock = clock;
  }

  /**
   * Reads, and returns the report. What may not be read is told in a row.
   *
   * @throws KubernetesClientException if the API server can't be asked
   */
  public List<Row> report() {
    row(Severity.OK, "configuration", "every field and gate is known");
    look("stored versions", this::storedVersions);
    look("lease", this::lease);
    look("deployment", this::deployments);
    look("selectors", this::selectors);
    look("registrations", this::ownRegistrations);
    look("other registrations", this::otherRegistrations);
    look("cert-manager", this::certificates);
    look("visibility", this::visibility);
    look("roles", this::roles);
    look("devices", this::devices);
    look("containers", this::containers);
    look("releases", this::releases);
    return List.copyOf(rows);
  }

  /**
   * Lists what a cluster may have much of, a page at a time. The API server holds a page, and so
   * does this process, and not the whole collection.
   */
  private static <T extends HasMetadata, L extends KubernetesResourceList<T>> void inPages(
      Listable<L> listed, Consumer<? super T> each) {
    String next = "";
    while (next != null) {
      ListOptions page = new ListOptions();
      page.setLimit(PAGE);
      page.setContinue(next.isEmpty() ? null : next);
      L found = listed.list(page);
      found.getItems().forEach(each);
      next = found.getMetadata().getContinue();
      if (next != null && next.isEmpty()) {
        next = null;
      }
    }
  }

  private void look(String subject, Runnable reading) {
    int before = rows.size();
    try {
      reading.run();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
        throw e;
      }
      row(Severity.TODO, subject, "not checked, it may not be read: " + ApiErrorText.of(e));
    }
    if (rows.size() == before) {
      row(Severity.OK, subject, "nothing to do");
    }
  }

  private void row(Severity severity, String subject, String text) {
    rows.add(new Row(severity, subject, text));
  }

  private void storedVersions() {
    Set<String> older = new TreeSet<>();
    List<String> absent = new ArrayList<>();
    for (String plural : Installer.PLURALS) {
      String name = plural + "." + ApiVersions.GROUP;
      CustomResourceDefinition found =
          client.apiextensions().v1().customResourceDefinitions().withName(name).get();
      if (found == null) {
        absent.add(plural);
        continue;
      }
      for (String version : found.getStatus().getStoredVersions()) {
        if (!READ_VERSIONS.contains(version)) {
          row(
              Severity.TODO,
              "stored versions",
              name
                  + " may hold objects in "
                  + version
                  + ", which Sluice doesn't read: store them anew in v1beta2, and take the version"
                  + " out of status.storedVersions");
        } else if (!version.equals(ApiVersions.V1BETA2)) {
          older.add(plural + " (" + version + ")");
        }
      }
    }
    if (!absent.isEmpty()) {
      row(
          Severity.NOTE,
          "stored versions",
          "definitions that will be made: " + String.join(", ", absent));
    }
    if (!older.isEmpty()) {
      row(
          Severity.NOTE,
          "stored versions",
          "objects may be stored in older versions, which Sluice"
              + " converts: "
              + String.join(", ", older));
    }
  }

  private void lease() {
    var election = configuration.leaderElection();
    if (!election.leaderElect()) {
      row(
          Severity.NOTE,
          "lease",
          "leaderElection.leaderElect is false: each replica admits jobs by itself, so there may be"
              + " one only, and it has to end before another one starts (strategy Recreate)");
    }
    var lease =
        client
            .leases()
            .inNamespace(
                election.resourceNamespace().isEmpty() ? namespace : election.resourceNamespace())
            .withName(election.resourceName())
            .get();
    Optional.ofNullable(lease)
        .flatMap(SharedObjectsGuard::otherHolder)
        .ifPresent(
            holder ->
                row(
                    Severity.TODO,
                    "lease",
                    "held by "
                        + holder
                        + ", which isn't Sluice: scale its Deployment to 0. Until then Sluice"
                        + " writes nothing that both would write"));
  }

  private void deployments() {
    for (Deployment found : client.apps().deployments().inNamespace(namespace).list().getItems()) {
      String name = found.getMetadata().getName();
      boolean ours = ProductLabel.isOn(found);
      if (!ours && name.equals(DEPLOYMENT)) {
        row(
            Severity.TODO,
            "deployment",
            name
                + " is of another operator, and its selector can't be"
                + " changed: kubectl -n "
                + namespace
                + " delete deployment "
                + name);
      } else if (!ours && name.endsWith("-" + DEPLOYMENT)) {
        row(
            Severity.TODO,
            "deployment",
            name
                + " is of another operator: kubectl -n "
                + namespace
                + " delete deployment "
                + name);
      }
    }
  }

  private void selectors() {
    for (String name :
        List.of(
            InstallManifests.WEBHOOK_SERVICE,
            InstallManifests.VISIBILITY_SERVICE,
            "kueue-controller-manager-metrics-service")) {
      Service found = client.services().inNamespace(namespace).withName(name).get();
      Map<String, String> selector =
          found == null || found.getSpec().getSelector() == null
              ? Map.of()
              : found.getSpec().getSelector();
      Set<String> others = new TreeSet<>(selector.keySet());
      others.removeAll(SELECTOR_KEYS);
      if (!others.isEmpty()) {
        row(
            Severity.TODO,
            "selectors",
            "Service "
                + name
                + " selects by "
                + String.join(", ", others)
                + ", which Sluice's pods don't carry, and a merge by Helm leaves that: delete the"
                + " Service just before Sluice is installed");
      }
    }
  }

  private RegisteredWebhooks registrations() {
    RegisteredWebhooks read = registrations;
    if (read == null) {
      read = RegisteredWebhooks.list(client);
      registrations = read;
    }
    return read;
  }

  private void ownRegistrations() {
    var mutating = registrations().ownMutating();
    var validating = registrations().ownValidating();
    var finding =
        new RegistrationRepair(
                client,
                WebhookRegistration.of(configuration, WebhookRegistration.service(configuration)),
                Optional.empty())
            .finding(mutating, validating);
    if (!finding.missing().isEmpty()) {
      row(
          Severity.NOTE,
          "registrations",
          "will differ in %d rules; Sluice brings its own. The first: %s"
              .formatted(finding.missing().size(), finding.missing().getFirst()));
    }
    if (!finding.unanswered().isEmpty()) {
      row(
          Severity.NOTE,
          "registrations",
          "entries that Sluice takes out, because nobody will answer"
              + " them: "
              + String.join(", ", finding.unanswered()));
    }
    registrations()
        .ownServices()
        .map(ServiceReference::getNamespace)
        .filter(other -> !namespace.equals(other))
        .distinct()
        .forEach(this::registeredForNamespace);
    Stream.<Optional<? extends HasMetadata>>of(mutating, validating)
        .flatMap(Optional::stream)
        .filter(found -> found.getMetadata().getAnnotations() != null)
        .map(found -> found.getMetadata().getAnnotations().get("cert-manager.io/inject-ca-from"))
        .filter(from -> from != null)
        .distinct()
        .forEach(
            from ->
                row(
                    Severity.NOTE,
                    "registrations",
                    "cert-manager writes their authority from Certificate " + from));
  }

  /** An operator in another namespace has a lease of its own, so nothing keeps both apart. */
  private void registeredForNamespace(String other) {
    String name = configuration.leaderElection().resourceName();
    Optional<String> holder =
        Optional.ofNullable(client.leases().inNamespace(other).withName(name).get())
            .flatMap(
                lease ->
                    SharedObjectsGuard.holderAt(
                        clock.instant(), lease, configuration.leaderElection().leaseDuration()));
    if (holder.isPresent()) {
      String operator = holder.get();
      row(
          Severity.TODO,
          "registrations",
          ("they lead to namespace %s, where %s renews a lease of its own: install Sluice there"
                  + " (namespace: %s), or stop that operator first")
              .formatted(other, operator, other));
    } else {
      row(
          Severity.NOTE,
          "registrations",
          "they lead to namespace %s, where nobody renews lease %s; those of Sluice lead to %s"
              .formatted(other, name, namespace));
    }
  }

  private void otherRegistrations() {
    registrations().others().forEach(this::otherRegistration);
  }

  private void otherRegistration(HasMetadata found) {
    row(
        Severity.TODO,
        "other registrations",
        found.getKind()
            + " "
            + found.getMetadata().getName()
            + " stays in force and leads to a Service without pods: when Sluice is installed,"
            + " kubectl delete "
            + found.getKind().toLowerCase(Locale.ROOT)
            + " "
            + found.getMetadata().getName());
  }

  private void certificates() {
    if (!configuration.internalCertManagement().enable()) {
      row(
          Severity.NOTE,
          "cert-manager",
          "internalCertManagement.enable is false: Sluice makes no"
              + " certificate; with Helm, set certificates.certManager.enabled=true, or"
              + " certificates.secretName to a Secret that somebody else writes");
      return;
    }
    String name = configuration.internalCertManagement().webhookSecretName();
    Secret secret = client.secrets().inNamespace(namespace).withName(name).get();
    Set<String> certificates = new TreeSet<>();
    if (client.supports(CERTIFICATES, "Certificate")) {
      for (GenericKubernetesResource each :
          client
              .genericKubernetesResources(CERTIFICATES, "Certificate")
              .inNamespace(namespace)
              .list()
              .getItems()) {
        if (name.equals(each.get("spec", "secretName"))) {
          certificates.add(each.getMetadata().getName());
        }
      }
    }
    for (String each : certificates) {
      row(
          Severity.TODO,
          "cert-manager",
          ("Certificate %s writes Secret %s. Leave it to cert-manager"
                  + " (certificates.certManager.enabled=true in the chart), or take it over: kubectl"
                  + " -n %s delete certificate %s && kubectl -n %s delete secret %s")
              .formatted(each, name, namespace, each, namespace, name));
    }
    if (secret != null && certificates.isEmpty()) {
      KubernetesSecretAccess.otherWriter(secret)
          .ifPresent(
              writer ->
                  row(
                      Severity.TODO,
                      "cert-manager",
                      ("Secret %s is written by %s, and Sluice leaves it alone. Let that go on"
                              + " (certificates.secretName=%s and"
                              + " config.internalCertManagement.enable=false in the chart), or end"
                              + " it and take the Secret over: kubectl -n %s delete secret %s")
                          .formatted(name, writer, name, namespace, name)));
    }
  }

  private void visibility() {
    for (String version : VisibilityApi.VERSIONS) {
      GenericKubernetesResource found =
          client
              .genericKubernetesResources("apiregistration.k8s.io/v1", "APIService")
              .withName(version + "." + VisibilityApi.GROUP)
              .get();
      if (found != null && Boolean.TRUE.equals(found.get("spec", "insecureSkipTLSVerify"))) {
        row(
            Severity.NOTE,
            "visibility",
            "APIService "
                + found.getMetadata().getName()
                + " isn't verified now (insecureSkipTLSVerify), and will be");
      }
    }
  }

  private void roles() {
    Set<String> known = new TreeSet<>();
    InstallManifests.permissions(namespace).stream()
        .filter(object -> object.getKind().equals("ClusterRole"))
        .forEach(object -> known.add(object.getMetadata().getName()));
    List<String> others =
        client.rbac().clusterRoles().list().getItems().stream()
            .filter(role -> role.getMetadata().getLabels() != null)
            .filter(
                role ->
                    role.getMetadata().getLabels().keySet().stream()
                            .anyMatch(key -> key.startsWith("rbac.kueue.x-k8s.io/"))
                        || "kueue"
                            .equals(role.getMetadata().getLabels().get("app.kubernetes.io/name")))
            .map(role -> role.getMetadata().getName())
            .filter(name -> !known.contains(name))
            .sorted()
            .toList();
    if (!others.isEmpty()) {
      row(
          Severity.NOTE,
          "roles",
          "these stay over; who is bound to them keeps what they allow: "
              + String.join(", ", others));
    }
  }

  /** What is kept of all Workloads. */
  private static final class Workloads {
    private int askingForDevices;

    /** By namespace: the names of the containers of all templates. */
    private final Map<String, Set<String>> containers = new HashMap<>();

    /** By namespace: the resources of which something was assigned. */
    private final Map<String, Set<String>> assigned = new HashMap<>();

    private void add(GenericKubernetesResource workload) {
      String in = workload.getMetadata().getNamespace();
      JsonNode tree = JsonMappers.JSON.valueToTree(workload);
      if (tree.path("spec").toString().contains("resourceClaims")) {
        askingForDevices++;
      }
      Set<String> names = containers.computeIfAbsent(in, any -> new TreeSet<>());
      for (JsonNode podSet : tree.path("spec").path("podSets")) {
        containersOf(podSet.at("/template/spec"))
            .forEach(container -> names.add(container.path("name").asText()));
      }
      Set<String> resources = assigned.computeIfAbsent(in, any -> new TreeSet<>());
      for (JsonNode assignment : tree.at("/status/admission/podSetAssignments")) {
        assignment.path("resourceUsage").fieldNames().forEachRemaining(resources::add);
      }
    }
  }

  private static Stream<JsonNode> containersOf(JsonNode podSpec) {
    return Stream.of(CONTAINERS).flatMap(field -> podSpec.path(field).valueStream());
  }

  private Workloads workloads() {
    Workloads read = workloads;
    if (read == null) {
      read = new Workloads();
      String version = ApiVersions.GROUP + "/" + ApiVersions.V1BETA2;
      if (client.supports(version, "Workload")) {
        inPages(client.genericKubernetesResources(version, "Workload").inAnyNamespace(), read::add);
      }
      workloads = read;
    }
    return read;
  }

  private void devices() {
    boolean counted =
        configuration.featureGates().enabled(FeatureGate.KUEUE_DRA_INTEGRATION)
            && !configuration.resources().deviceClasses().isEmpty();
    int asking = counted ? 0 : workloads().askingForDevices;
    if (asking > 0) {
      row(
          Severity.NOTE,
          "devices",
          asking
              + " Workloads have pods with resourceClaims, which are counted only by"
              + " resources.deviceClassMappings (docs/devices.md)");
    }
  }

  /** Pods of jobs that have more containers than their jobs' templates, as webhooks add them. */
  private void containers() {
    if (configuration.podAccounting() == PodAccounting.OFF) {
      return;
    }
    Map<String, List<String>> pods = new TreeMap<>();
    inPages(
        client
            .pods()
            .inAnyNamespace()
            .withLabel(KueueConstants.PODSET)
            .withField("status.phase", "Running"),
        pod -> {
          for (String name : charged(pod)) {
            pods.computeIfAbsent(name, any -> new ArrayList<>())
                .add(pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName());
          }
        });
    pods.forEach(
        (name, having) ->
            row(
                Severity.TODO,
                "containers",
                ("pods of jobs have a container %s that no template has (%d, such as %s), and their"
                        + " jobs would be evicted for what it requests: list it in"
                        + " resources.injectedContainers, or set podAccounting: Off"
                        + " (docs/pod-accounting.md)")
                    .formatted(name, having.size(), having.getFirst())));
  }

  /** Containers that no template has and for which quota would count more of the pod. */
  private Set<String> charged(Pod pod) {
    String in = pod.getMetadata().getNamespace();
    Set<String> known = workloads().containers.getOrDefault(in, Set.of());
    JsonNode spec = JsonMappers.JSON.valueToTree(pod.getSpec());
    Set<String> added =
        containersOf(spec)
            .map(container -> container.path("name").asText())
            .filter(name -> !known.contains(name))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> charged = new TreeSet<>();
    for (String name : added) {
      Set<String> others = new TreeSet<>(added);
      others.remove(name);
      // Alone, since the larger of two init containers hides the other; and beside the others,
      // since they may be more than the pod had only together.
      if (isMore(counted(spec, others), counted(spec, added), in)
          || isMore(counted(spec, Set.of()), counted(spec, Set.of(name)), in)) {
        charged.add(name);
      }
    }
    return charged;
  }

  private boolean isMore(SortedMap<String, Long> amounts, SortedMap<String, Long> than, String in) {
    Set<String> assigned = workloads().assigned.getOrDefault(in, Set.of());
    return amounts.entrySet().stream()
        .filter(each -> !requests.ignoresUndeclared() || assigned.contains(each.getKey()))
        .anyMatch(each -> each.getValue() > than.getOrDefault(each.getKey(), 0L));
  }

  /** What quota counts of a pod, if it had no containers of these names. */
  private SortedMap<String, Long> counted(JsonNode spec, Set<String> without) {
    ObjectNode copy = spec.deepCopy();
    for (String field : CONTAINERS) {
      ArrayNode kept = copy.putArray(field);
      spec.path(field)
          .valueStream()
          .filter(container -> !without.contains(container.path("name").asText()))
          .forEach(kept::add);
    }
    return requests.counted(PodTemplateParser.requests(copy, requests::charged));
  }

  private void releases() {
    Set<String> names = new TreeSet<>();
    inPages(
        client.secrets().inNamespace(namespace).withLabel("owner", "helm"),
        secret -> names.add(String.valueOf(secret.getMetadata().getLabels().get("name"))));
    names.forEach(
        release ->
            row(
                Severity.NOTE,
                "releases",
                "Helm keeps release "
                    + release
                    + " in this namespace;"
                    + " if it is the other operator's, let Helm forget it, never uninstall it:"
                    + " kubectl -n "
                    + namespace
                    + " delete secret -l owner=helm,name="
                    + release));
  }
}
