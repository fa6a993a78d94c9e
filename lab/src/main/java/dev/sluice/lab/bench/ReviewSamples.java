package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.lab.player.KindManifest;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperations;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Admission reviews for the webhooks that are registered in a cluster: one for each webhook and
 * operation, with an object that the webhook allows. Addresses and trusted authorities come from
 * the registrations, as an API server takes them.
 *
 * @param reviews the reviews
 * @param tls trusts the authorities of the registrations
 */
record ReviewSamples(List<Review> reviews, SSLContext tls) {

  private static final String OWN_KINDS =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: Workload
      metadata: {name: sample}
      spec:
        queueName: team-a
        priority: 0
        podSets:
        - name: main
          count: 2
          template:
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: sample}
      spec:
        cohortName: sample
        namespaceSelector: {}
        queueingStrategy: BestEffortFIFO
        preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}
        resourceGroups:
        - coveredResources: [cpu, memory]
          flavors:
          - name: sample
            resources:
            - {name: cpu, nominalQuota: "20", borrowingLimit: "100"}
            - {name: memory, nominalQuota: 64Gi}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: sample}
      spec: {nodeLabels: {instance-type: spot}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: Cohort
      metadata: {name: sample}
      spec: {parentName: root}
      """;

  /**
   * A review.
   *
   * @param uri address of the webhook
   * @param body the review as JSON
   */
  record Review(URI uri, byte[] body) {}

  /** Copies the list. */
  ReviewSamples {
    reviews = List.copyOf(reviews);
  }

  /**
   * The reviews for what is registered in a cluster.
   *
   * @throws BenchException if nothing is registered by URL, or a certificate can't be used
   */
  static ReviewSamples of(KubernetesClient client) {
    Builder builder = new Builder();
    client.admissionRegistration().v1().mutatingWebhookConfigurations().list().getItems().stream()
        .flatMap(each -> each.getWebhooks().stream())
        .forEach(each -> builder.add(each.getClientConfig(), each.getRules()));
    client.admissionRegistration().v1().validatingWebhookConfigurations().list().getItems().stream()
        .flatMap(each -> each.getWebhooks().stream())
        .forEach(each -> builder.add(each.getClientConfig(), each.getRules()));
    return builder.build();
  }

  /** Reviews of Jobs that are as large as can be, in the ways that cost most. */
  List<Review> poisoned() {
    ObjectMapper json = new ObjectMapper();
    List<Review> poisoned = new ArrayList<>();
    for (Review review : reviews) {
      if (review.uri().getPath().endsWith("-batch-v1-job")) {
        for (Poison poison : Poison.values()) {
          try {
            ObjectNode root = (ObjectNode) json.readTree(review.body());
            ObjectNode request = root.withObject("/request").put("namespace", "poison");
            request.withObject("/userInfo").put("username", "poisoner");
            poison.into(request.withObject("/object"));
            poisoned.add(new Review(review.uri(), json.writeValueAsBytes(root)));
          } catch (IOException own) {
            throw new UncheckedIOException(own);
          }
        }
      }
    }
    return poisoned;
  }

  /** A way to make an object cost its reader much. */
  private enum Poison {
    SELECTOR,
    GATES,
    NAMES,
    SIZE;

    private static final int MOST_ANNOTATIONS = 250_000;
    private static final int MOST_NAMES = 60_000;
    private static final int TOO_LARGE = 9 * 1024 * 1024;

    void into(ObjectNode object) {
      ObjectNode annotations = object.withObject("/metadata/annotations");
      switch (this) {
        case SELECTOR ->
            annotations.put("sluice.dev/placement-cluster-selector", ",".repeat(MOST_ANNOTATIONS));
        case GATES ->
            annotations.put("kueue.x-k8s.io/admission-gated-by", ",".repeat(MOST_ANNOTATIONS));
        case NAMES -> {
          ObjectNode nodes = object.withObject("/spec/template/spec/nodeSelector");
          for (int i = 0; i < MOST_NAMES; i++) {
            nodes.put("label-" + i, "");
          }
        }
        case SIZE -> annotations.put("large", "<".repeat(TOO_LARGE));
      }
    }
  }

  private static final class Builder {
    private final Map<String, ObjectNode> objects = objects();
    private final Set<String> authorities = new LinkedHashSet<>();
    private final List<Review> reviews = new ArrayList<>();

    void add(WebhookClientConfig config, List<RuleWithOperations> rules) {
      if (config.getUrl() == null || config.getCaBundle() == null) {
        return;
      }
      authorities.add(config.getCaBundle());
      URI uri = URI.create(config.getUrl());
      String kind = uri.getPath().substring(uri.getPath().lastIndexOf('-') + 1);
      for (RuleWithOperations rule : rules) {
        ObjectNode object = objects.get(rule.getApiGroups().getFirst() + "/" + kind);
        for (String operation : rule.getOperations()) {
          if (object != null && (operation.equals("CREATE") || operation.equals("UPDATE"))) {
            reviews.add(new Review(uri, review(object, operation, rule)));
          }
        }
      }
    }

    ReviewSamples build() {
      if (reviews.isEmpty()) {
        throw new BenchException("no webhook of the cluster is registered by its URL");
      }
      try {
        return new ReviewSamples(reviews, trusting(authorities));
      } catch (GeneralSecurityException | IOException e) {
        throw new BenchException("the certificates of the webhooks can't be used: " + e, e);
      }
    }
  }

  /** An object of each kind, by group and kind in lower case. */
  private static Map<String, ObjectNode> objects() {
    Map<String, ObjectNode> objects = new HashMap<>();
    try {
      new YAMLMapper()
          .readerFor(ObjectNode.class)
          .<ObjectNode>readValues(OWN_KINDS)
          .forEachRemaining(object -> objects.put(key(object), object));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    KindManifest.all().stream()
        .flatMap(manifest -> manifest.objects().stream())
        .forEach(object -> objects.putIfAbsent(key(object), object));
    return objects;
  }

  private static String key(ObjectNode object) {
    String version = object.path("apiVersion").asText();
    String group = version.substring(0, Math.max(0, version.indexOf('/')));
    return group + "/" + object.path("kind").asText().toLowerCase(Locale.ROOT);
  }

  private static byte[] review(ObjectNode object, String operation, RuleWithOperations rule) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
    ObjectNode request = root.putObject("request");
    request.put("uid", "4b5b3c2e-0000-4000-8000-000000000001");
    request
        .putObject("kind")
        .put("group", rule.getApiGroups().getFirst())
        .put("version", rule.getApiVersions().getFirst())
        .put("kind", object.path("kind").asText());
    request
        .putObject("resource")
        .put("group", rule.getApiGroups().getFirst())
        .put("version", rule.getApiVersions().getFirst())
        .put("resource", rule.getResources().getFirst());
    request.put("name", object.at("/metadata/name").asText()).put("namespace", "default");
    request.put("operation", operation).put("dryRun", false);
    request.putObject("userInfo").put("username", "somebody").putArray("groups").add("people");
    ObjectNode sent = object.deepCopy();
    ((ObjectNode) sent.path("metadata")).put("namespace", "default");
    request.set("object", sent);
    if (operation.equals("UPDATE")) {
      request.set("oldObject", sent.deepCopy());
    } else {
      request.putNull("oldObject");
    }
    return root.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static SSLContext trusting(Set<String> bundles)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    for (String bundle : bundles) {
      for (Certificate authority :
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(Base64.getDecoder().decode(bundle)))) {
        store.setCertificateEntry("authority-" + store.size(), authority);
      }
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), new SecureRandom());
    return context;
  }
}
