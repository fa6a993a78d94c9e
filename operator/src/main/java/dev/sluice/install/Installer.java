package dev.sluice.install;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ConcurrentRequests;
import dev.sluice.kube.client.OwnUser;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.APIService;
import io.fabric8.kubernetes.api.model.APIServiceCondition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceSpecBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Installs the operator's objects in a cluster: its namespace, the roles, the policies about pods
 * and jobs, the CustomResourceDefinitions and the webhook configurations. Idempotent.
 */
public final class Installer {

  private static final Logger LOG = LoggerFactory.getLogger(Installer.class);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** The plurals of all kinds that are installed. */
  public static final List<String> PLURALS =
      List.of(
          "admissionchecks",
          "clusterqueues",
          "cohorts",
          "localqueues",
          "multikueueclusters",
          "multikueueconfigs",
          "provisioningrequestconfigs",
          "resourceflavors",
          "topologies",
          "workloadpriorityclasses",
          "workloads");

  /** The plurals of the kinds that are alpha: installed, and not missed where they aren't. */
  static final List<String> ALPHA =
      List.of("capacityproviders", "dynamicquotaorchestrators", "preemptionconfigs");

  /** The plurals of the kinds that are of this program alone. */
  static final List<String> SLUICE_PLURALS =
      List.of("budgets", "capacityreservations", "jobkinds", "maintenancewindows");

  /** A name that a Service may stand for; an IPv4 address is one. */
  private static final Pattern SERVICE_NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]*[a-z0-9])?");

  private static final String FIELD_MANAGER = "sluice-install";
  private static final String DEFINITIONS =
      "apis/apiextensions.k8s.io/v1/customresourcedefinitions/";
  private static final int DEFINITIONS_AT_A_TIME = 4;
  private static final String CONVERT = "/convert";

  /** The lines of a definition that lead the API server to the conversion between versions. */
  private static final Pattern CONVERTER =
      Pattern.compile("(?m)^ {6}clientConfig:\\n(?: {8}.*\\n)+");

  private static final PatchContext APPLY =
      new PatchContext.Builder()
          .withPatchType(PatchType.SERVER_SIDE_APPLY)
          .withFieldManager(FIELD_MANAGER)
          .withForce(true)
          .build();

  private final KubernetesClient client;
  private final ApiClient api;
  private final Configuration configuration;
  private final Optional<String> url;

  /**
   * Creates an installer for a cluster.
   *
   * @param url the address at which the API server reaches this process (scheme, host and port);
   *     empty if it uses the Service in the cluster
   */
  public Installer(KubernetesClient client, Configuration configuration, Optional<String> url) {
    this.client = client;
    this.api = new ApiClient(client, ApiClient.Options.atATime(DEFINITIONS_AT_A_TIME));
    this.configuration = configuration;
    this.url = url;
  }

  /**
   * Installs; returns when the API server serves the kinds.
   *
   * @param definitions tell when they are served; started if they aren't yet
   * @throws IOException when a manifest cannot be read, Kubernetes is older than 1.30, or a kind
   *     isn't served within a minute
   */
  public void install(ServedDefinitions definitions) throws IOException {
    applyPolicies();
    permit();
    List<String> names = definitionNames();
    ObjectNode converter = converter();
    ConcurrentRequests.run(
        names.stream().<Runnable>map(name -> () -> define(name, converter)).toList());
    if (configuration.kubeQueue().enabled()) {
      names.addAll(OptionalDefinitions.install(client));
    }
    definitions.awaitServed(names, PATIENCE);
    InstallManifests.webhooks(registration().trusting(ownServiceAccount())).forEach(this::adopt);
    visibilityAtAddress().forEach(this::apply);
    LOG.info(
        "installed namespace={} webhooks={}", configuration.namespace(), url.orElse("service"));
  }

  /** Of this program's definitions: plural and group, with a dot between them. */
  static List<String> definitionNames() {
    List<String> names = new ArrayList<>();
    PLURALS.forEach(plural -> names.add(plural + "." + ApiVersions.GROUP));
    ALPHA.forEach(plural -> names.add(plural + "." + ApiVersions.GROUP));
    SLUICE_PLURALS.forEach(plural -> names.add(plural + "." + ApiVersions.SLUICE_GROUP));
    return names;
  }

  /** Before all else, because an API server that serves none refuses the definitions, too. */
  private void applyPolicies() throws IOException {
    try {
      InstallManifests.policies(configuration.namespace()).forEach(this::apply);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
      throw new IOException(
          "--install needs Kubernetes 1.30 or newer; the chart installs on 1.29, too", e);
    }
  }

  /** Applies the namespace, the service account and the roles, once more if they were deleted. */
  public void permit() {
    InstallManifests.permissions(configuration.namespace()).forEach(this::apply);
    if (configuration.kubeQueue().enabled()) {
      InstallManifests.kubeQueuePermissions(configuration.namespace()).forEach(this::apply);
    }
  }

  /**
   * What puts the registrations back that {@link #install} applied.
   *
   * @param allowed called before each write, throws when none may be sent now
   */
  public RegistrationRepair repair(Optional<Runnable> allowed) {
    return new RegistrationRepair(client, registration().trusting(ownServiceAccount()), allowed);
  }

  /**
   * Removes what {@link #install} applied; what is missing is left out. Definitions that stay and
   * name this process's address for conversion name the Service of the shipped manifests again: as
   * long as it isn't there, requests in other versions than the stored one are refused. To convert
   * nothing instead would answer them with fields left out.
   *
   * @param definitions whether the namespace is removed too, and the definitions are left as they
   *     are, to be removed by {@link #removeDefinitions}
   * @throws IOException when a manifest cannot be read
   */
  public void uninstall(boolean definitions) throws IOException {
    WebhookConfigurations webhooks = new WebhookConfigurations(registration());
    client.resource(webhooks.mutating()).delete();
    client.resource(webhooks.validating()).delete();
    removeVisibility();
    List<HasMetadata> objects =
        new ArrayList<>(InstallManifests.permissions(configuration.namespace()));
    objects.addAll(InstallManifests.kubeQueuePermissions(configuration.namespace()));
    objects.addAll(InstallManifests.policies(configuration.namespace()));
    for (HasMetadata object : objects.reversed()) {
      if (definitions || !object.getKind().equals("Namespace")) {
        client.resource(object).delete();
      }
    }
    if (definitions) {
      return;
    }
    for (String plural : PLURALS) {
      CustomResourceDefinition found =
          client
              .apiextensions()
              .v1()
              .customResourceDefinitions()
              .withName(plural + "." + ApiVersions.GROUP)
              .get();
      if (found != null && convertsAtAddress(found)) {
        define(plural + "." + ApiVersions.GROUP, converter());
      }
    }
  }

  /**
   * Removes the definitions, and with them all queues and Workloads, where no operator runs, and
   * waits until they are gone and the namespace, too. Only finalizers of this API are taken off.
   *
   * @param patience how long to go on while nothing more goes
   * @param progress is given a line about every two seconds, if it takes longer than that
   * @return a line for each thing that stays, with the reason; empty if everything is gone
   * @throws InterruptedException when the thread is interrupted meanwhile
   */
  public List<String> removeDefinitions(Duration patience, Consumer<String> progress)
      throws InterruptedException {
    return new DefinitionRemoval(client, configuration.namespace(), patience, progress).run();
  }

  /**
   * An APIService whose server is gone would make clients of the whole cluster stumble when they
   * discover its groups, and hold up the deletion of namespaces.
   */
  private void removeVisibility() {
    visibility(client).forEach(served -> client.resource(served).delete());
    var reached =
        client
            .services()
            .inNamespace(configuration.namespace())
            .withName(InstallManifests.VISIBILITY_SERVICE);
    Service found = reached.get();
    if (found != null && found.getSpec().getExternalName() != null) {
      reached.delete();
    }
  }

  /**
   * What registers the visibility API at this process's address: the API server connects to a name
   * that a Service of type ExternalName says, at the port of the APIService. Empty if the process
   * is reached by the Service of the shipped manifests, which register the API themselves, or at an
   * address that isn't such a name.
   */
  private List<HasMetadata> visibilityAtAddress() {
    Optional<String> host = addressName();
    if (host.isEmpty()) {
      return List.of();
    }
    List<HasMetadata> objects = InstallManifests.visibility(configuration.namespace());
    for (HasMetadata object : objects) {
      if (object instanceof Service service) {
        service.setSpec(
            new ServiceSpecBuilder().withType("ExternalName").withExternalName(host.get()).build());
      } else if (object instanceof APIService served) {
        served.getSpec().getService().setPort(configuration.visibilityServer().bindPort());
      }
    }
    return objects;
  }

  /** What a Service can stand for of this process's address; empty if that is no such name. */
  private Optional<String> addressName() {
    return url.map(URI::create)
        .map(URI::getHost)
        .filter(host -> SERVICE_NAME.matcher(host).matches());
  }

  /**
   * Takes back the registration of the visibility API if it leads to this process, which ends:
   * otherwise clients would wait for it when they discover groups, and no namespace could be
   * deleted. The webhooks stay, so that no job starts past its queue.
   *
   * @param direct a client that repeats no requests
   */
  public void leave(KubernetesClient direct) {
    ownVisibility(direct).forEach(found -> direct.resource(found).delete());
  }

  /**
   * Takes back the registration of the visibility API if the API server doesn't reach this process
   * there, for the same reasons.
   *
   * @return why it doesn't; empty if it does, or nothing is registered
   */
  public Optional<String> leaveUnreached(KubernetesClient direct) {
    List<APIService> own = ownVisibility(direct);
    Optional<String> reason =
        own.stream()
            .flatMap(
                found ->
                    found.getStatus() == null
                        ? Stream.empty()
                        : found.getStatus().getConditions().stream())
            .filter(condition -> condition.getType().equals("Available"))
            .filter(condition -> !condition.getStatus().equals("True"))
            .map(APIServiceCondition::getMessage)
            .findFirst();
    reason.ifPresent(any -> own.forEach(found -> direct.resource(found).delete()));
    return reason;
  }

  /** Those of the visibility API that lead to this process. */
  private List<APIService> ownVisibility(KubernetesClient direct) {
    return addressName().isEmpty()
        ? List.of()
        : visibility(direct).stream()
            .filter(
                served ->
                    Objects.equals(
                        served.getSpec().getService().getPort(),
                        configuration.visibilityServer().bindPort()))
            .toList();
  }

  /** The APIServices of the visibility API that lead to the Service of this installation. */
  private List<APIService> visibility(KubernetesClient asking) {
    return VisibilityApi.VERSIONS.stream()
        .map(
            version ->
                asking
                    .resources(APIService.class)
                    .withName(version + "." + VisibilityApi.GROUP)
                    .get())
        .filter(
            served ->
                served != null
                    && served.getSpec().getService() != null
                    && InstallManifests.VISIBILITY_SERVICE.equals(
                        served.getSpec().getService().getName())
                    && configuration
                        .namespace()
                        .equals(served.getSpec().getService().getNamespace()))
        .toList();
  }

  private static boolean convertsAtAddress(CustomResourceDefinition definition) {
    var conversion = definition.getSpec().getConversion();
    return conversion != null
        && conversion.getWebhook() != null
        && conversion.getWebhook().getClientConfig() != null
        && conversion.getWebhook().getClientConfig().getUrl() != null;
  }

  /**
   * Applies an object over one that another installer may have made. An entry leads either to a
   * Service or to an address: applying adds the one and doesn't take away the other's, which would
   * be refused. So what leads elsewhere is replaced first.
   */
  private void adopt(HasMetadata object) {
    HasMetadata found = client.resource(object).get();
    if (found != null && leadsElsewhere(found)) {
      object.getMetadata().setResourceVersion(found.getMetadata().getResourceVersion());
      client.resource(object).update();
      object.getMetadata().setResourceVersion(null);
    }
    apply(object);
  }

  private boolean leadsElsewhere(HasMetadata found) {
    List<WebhookClientConfig> targets =
        switch (found) {
          case MutatingWebhookConfiguration mutating ->
              mutating.getWebhooks().stream().map(MutatingWebhook::getClientConfig).toList();
          case ValidatingWebhookConfiguration validating ->
              validating.getWebhooks().stream().map(ValidatingWebhook::getClientConfig).toList();
          default -> List.of();
        };
    return targets.stream().anyMatch(target -> (target.getUrl() != null) != url.isPresent());
  }

  private void apply(HasMetadata object) {
    client.resource(object).patch(APPLY);
  }

  /**
   * Applies a definition as it is in the program's file, but for the address of the conversion. It
   * is sent as text, and the answer isn't read: an object of each of the types that a schema
   * consists of costs a new process more than all other requests of an installation.
   *
   * <p>An address beside the Service that another installer named is refused: then it is replaced
   * first.
   *
   * @param converter where its conversion leads
   */
  private void define(String name, ObjectNode converter) {
    String path = DEFINITIONS + name;
    ApiRequest apply = ApiRequest.apply(path, manifest(name, converter), FIELD_MANAGER);
    ApiOutcome outcome = api.send(apply).join();
    if (outcome instanceof ApiOutcome.Refused) {
      ArrayNode operations = JsonMappers.JSON.createArrayNode();
      operations
          .addObject()
          .put("op", "replace")
          .put("path", "/spec/conversion/webhook/clientConfig")
          .set("value", converter);
      ApiRequest replace = ApiRequest.jsonPatch(path, operations).by(FIELD_MANAGER);
      if (api.send(replace).join() instanceof ApiOutcome.Written) {
        outcome = api.send(apply).join();
      }
    }
    switch (outcome) {
      case ApiOutcome.Written any -> {}
      case ApiOutcome.Refused refused -> throw failed(name, refused.code(), refused.message());
      case ApiOutcome.Unreachable unreachable ->
          throw failed(name, unreachable.code(), unreachable.message());
      case ApiOutcome.Conflict conflict ->
          throw failed(name, HttpURLConnection.HTTP_CONFLICT, conflict.message());
      case ApiOutcome.Gone gone ->
          throw failed(name, HttpURLConnection.HTTP_NOT_FOUND, gone.message());
    }
  }

  private static KubernetesClientException failed(String name, int code, String message) {
    return new KubernetesClientException(
        "the definition %s can't be applied: %s".formatted(name, message), code, null);
  }

  /** The text of a definition whose conversions lead there. */
  static String manifest(String name, ObjectNode converter) {
    int dot = name.indexOf('.');
    String file =
        "/dev/sluice/crds/%s_%s.yaml".formatted(name.substring(dot + 1), name.substring(0, dot));
    try (InputStream text = Installer.class.getResourceAsStream(file)) {
      if (text == null) {
        throw new IllegalStateException(file + " is missing from the program");
      }
      return CONVERTER
          .matcher(new String(text.readAllBytes(), StandardCharsets.UTF_8))
          .replaceFirst(Matcher.quoteReplacement("      clientConfig: " + converter + "\n"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What leads the API server to the conversion between versions. */
  private ObjectNode converter() {
    ObjectNode converter = JsonMappers.JSON.createObjectNode();
    switch (registration().target()) {
      case WebhookRegistration.Url address -> converter.put("url", address.base() + CONVERT);
      case WebhookRegistration.Service service ->
          converter
              .putObject("service")
              .put("name", service.name())
              .put("namespace", service.namespace())
              .put("port", service.port())
              .put("path", CONVERT);
    }
    return converter;
  }

  /**
   * The name of this process among the users of the API server, if it is that of the installed
   * service account, which nobody but the operator uses. Somebody's own user, with whom an operator
   * is started outside of the cluster, is not told apart from the operator.
   */
  private Optional<String> ownServiceAccount() {
    return OwnUser.of(client)
        .filter(name -> name.equals(InstallManifests.user(configuration.namespace())));
  }

  private WebhookRegistration registration() {
    return WebhookRegistration.of(
        configuration,
        url.<WebhookRegistration.Target>map(WebhookRegistration.Url::new)
            .orElseGet(() -> WebhookRegistration.service(configuration)));
  }

  /**
   * Definitions of kinds that belong to others, for clusters where nobody else defines them. A
   * definition that is there is never changed, and none is ever removed.
   */
  static final class OptionalDefinitions {

    private static final Logger LOG = LoggerFactory.getLogger(OptionalDefinitions.class);

    /** The definitions of Kube Queue's kinds. */
    static final List<String> KUBE_QUEUE =
        List.of(
            "elasticquotas.scheduling.sigs.k8s.io",
            "elasticquotas.scheduling.x-k8s.io",
            "elasticquotatrees.scheduling.sigs.k8s.io",
            "queues.scheduling.x-k8s.io",
            "queueunits.scheduling.x-k8s.io");

    private OptionalDefinitions() {}

    /**
     * Creates those that are missing.
     *
     * @return the names of those that were created
     * @throws IOException when a file is missing from the program
     */
    static List<String> install(KubernetesClient client) throws IOException {
      List<String> created = new ArrayList<>();
      for (String name : KUBE_QUEUE) {
        var found = client.apiextensions().v1().customResourceDefinitions().withName(name);
        if (found.get() == null && create(client, definition(client, name))) {
          created.add(name);
        }
      }
      return created;
    }

    /** False if somebody else created it meanwhile. */
    private static boolean create(KubernetesClient client, CustomResourceDefinition definition) {
      try {
        client.resource(definition).create();
        return true;
      } catch (KubernetesClientException e) {
        if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
          throw e;
        }
        LOG.info("definition={} created=false", definition.getMetadata().getName());
        return false;
      }
    }

    private static CustomResourceDefinition definition(KubernetesClient client, String name)
        throws IOException {
      int dot = name.indexOf('.');
      String file =
          "kube-queue/" + name.substring(dot + 1) + "_" + name.substring(0, dot) + ".yaml";
      try (InputStream text = OptionalDefinitions.class.getResourceAsStream(file)) {
        if (text == null) {
          throw new IOException(file + " is missing from the program");
        }
        return client.getKubernetesSerialization().unmarshal(text, CustomResourceDefinition.class);
      }
    }
  }
}
