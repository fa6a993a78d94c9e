package dev.sluice.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.api.crd.CrdFiles;
import dev.sluice.server.certificates.InternalCertificates;
import dev.sluice.server.certificates.InternalCertificates.SecretAccess;
import dev.sluice.server.certificates.ReloadableKeyManager;
import dev.sluice.server.endpoints.WebhookEndpoint;
import dev.sluice.server.http.HttpService;
import dev.sluice.server.http.TlsSettings;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.WebhookRouter;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;

/**
 * The API in a control plane: its definitions, and webhooks that this process answers on the
 * loopback address. No controller runs.
 */
public final class ServedApi implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final RawApi api;
  private final HttpService server;

  private ServedApi(RawApi api, HttpService server) {
    this.api = api;
    this.server = server;
  }

  /** Installs the API, with webhooks that use these functions, and waits until it is served. */
  public static ServedApi start(KubernetesClient client, Map<String, AdmissionFunction> functions)
      throws Exception {
    return start(client, functions, true);
  }

  /**
   * Installs the API, with conversion but no webhook for admission, and waits until it is served.
   */
  public static ServedApi withoutAdmission(KubernetesClient client) throws Exception {
    return start(client, Map.of(), false);
  }

  private static ServedApi start(
      KubernetesClient client, Map<String, AdmissionFunction> functions, boolean admission)
      throws Exception {
    var keys = new ReloadableKeyManager();
    List<String> bundles = new ArrayList<>();
    new InternalCertificates(
            new NoSecret(),
            bundles::add,
            keys,
            List.of("127.0.0.1"),
            InstantSource.system(),
            new SecureRandom())
        .refresh();
    var reviews = new ConversionWebhook(new HubConverter());
    HttpService server =
        HttpService.tls(
            new BindAddress("127.0.0.1", 0),
            keys.context(),
            TlsSettings.STRICT,
            new WebhookEndpoint(new WebhookRouter(functions), reviews),
            Duration.ZERO);
    ServedApi api = new ServedApi(new RawApi(client), server);
    String encoded =
        Base64.getEncoder().encodeToString(bundles.getFirst().getBytes(StandardCharsets.US_ASCII));
    api.definitions(encoded);
    if (admission) {
      api.configuration("Mutating", encoded);
      api.configuration("Validating", encoded);
    }
    return api;
  }

  /** Sends an object; the answer is an object of the API or a Status. */
  public JsonNode send(String method, String path, JsonNode body) {
    return api.send(method, path, body);
  }

  private void definitions(String bundle) throws Exception {
    List<String> collections = new ArrayList<>();
    for (String text : new CrdFiles().all().values()) {
      ObjectNode definition = (ObjectNode) new YAMLMapper().readTree(text);
      if (definition.at("/spec/conversion/webhook/clientConfig") instanceof ObjectNode config) {
        config.removeAll();
        config.put("url", url("/convert")).put("caBundle", bundle);
      }
      JsonNode made =
          send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
      if (!made.path("kind").asText().equals("CustomResourceDefinition")) {
        throw new IllegalStateException(made.toString());
      }
      collections.add(
          "/apis/%s/%s/%s"
              .formatted(
                  definition.at("/spec/group").asText(),
                  storedVersion(definition),
                  definition.at("/spec/names/plural").asText()));
    }
    for (String collection : collections) {
      Awaitility.await(collection).atMost(LIMIT).until(() -> isServed(collection));
    }
  }

  private static String storedVersion(ObjectNode definition) {
    return definition
        .at("/spec/versions")
        .valueStream()
        .filter(version -> version.path("storage").asBoolean())
        .findFirst()
        .orElseThrow()
        .path("name")
        .asText();
  }

  private boolean isServed(String collection) {
    return send("GET", collection, JSON.createObjectNode()).path("kind").asText().endsWith("List");
  }

  private void configuration(String word, String bundle) {
    ObjectNode configuration = JSON.createObjectNode();
    configuration
        .put("apiVersion", "admissionregistration.k8s.io/v1")
        .put("kind", word + "WebhookConfiguration");
    configuration.putObject("metadata").put("name", "served-api");
    ArrayNode webhooks = configuration.putArray("webhooks");
    boolean mutating = word.equals("Mutating");
    for (WebhookKind kind : WebhookKind.all()) {
      boolean ours = kind.group().startsWith("kueue") || kind.group().equals("batch");
      List<String> operations = mutating ? kind.mutating() : List.of("CREATE", "UPDATE");
      if (ours && !operations.isEmpty()) {
        ObjectNode webhook = webhooks.addObject();
        webhook
            .put("name", "%s%s.kb.io".formatted(mutating ? "m" : "v", kind.plural()))
            .put("sideEffects", "None")
            .putArray("admissionReviewVersions")
            .add("v1");
        webhook
            .putObject("clientConfig")
            .put("url", url(mutating ? kind.mutatingPath() : kind.validatingPath()))
            .put("caBundle", bundle);
        ObjectNode rule = webhook.putArray("rules").addObject();
        rule.putArray("apiGroups").add(kind.group());
        rule.putArray("apiVersions").add(kind.version());
        operations.forEach(rule.putArray("operations")::add);
        (mutating ? List.of(kind.plural()) : kind.validating())
            .forEach(rule.withArray("resources")::add);
      }
    }
    send(
        "POST",
        "/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations"
            .formatted(word.toLowerCase(java.util.Locale.ROOT)),
        configuration);
  }

  private String url(String path) {
    return "https://127.0.0.1:%d%s".formatted(server.port(), path);
  }

  @Override
  public void close() {
    server.close();
    api.close();
  }

  /** Keeps the certificate for as long as the process lives. */
  private static final class NoSecret implements SecretAccess {
    @Override
    public Optional<Stored> read() {
      return Optional.empty();
    }

    @Override
    public boolean write(Map<String, byte[]> data, Optional<String> version) {
      return true;
    }
  }
}
