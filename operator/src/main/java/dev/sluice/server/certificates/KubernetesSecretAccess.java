package dev.sluice.server.certificates;

import dev.sluice.api.ProductLabel;
import dev.sluice.server.certificates.InternalCertificates.SecretAccess;
import dev.sluice.server.certificates.InternalCertificates.ServingSecret;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Access to the Secret through the API server. */
public final class KubernetesSecretAccess implements SecretAccess {

  /** By this annotation cert-manager says which Certificate a Secret belongs to. */
  private static final String CERTIFICATE = "cert-manager.io/certificate-name";

  private final KubernetesClient client;
  private final String namespace;
  private final String name;
  private final Runnable allowed;

  /**
   * Creates an access to the Secret of this name, which need not exist.
   *
   * @param allowed called before each write; throws when none may be sent now
   */
  public KubernetesSecretAccess(
      KubernetesClient client, String namespace, String name, Runnable allowed) {
    this.client = client;
    this.namespace = namespace;
    this.name = name;
    this.allowed = allowed;
  }

  @Override
  public Optional<Stored> read() {
    Secret secret = client.secrets().inNamespace(namespace).withName(name).get();
    if (secret == null) {
      return Optional.empty();
    }
    refuseOfOthers(secret);
    Map<String, byte[]> data = new HashMap<>();
    if (secret.getData() != null) {
      secret.getData().forEach((key, value) -> data.put(key, Base64.getDecoder().decode(value)));
    }
    return Optional.of(new Stored(data, secret.getMetadata().getResourceVersion()));
  }

  /** Two that write the same Secret would take it away from each other for ever. */
  private void refuseOfOthers(Secret secret) {
    otherWriter(secret)
        .ifPresent(
            writer -> {
              throw new IllegalStateException(
                  "Secret %s/%s is written by %s and is left alone; delete the Secret and what writes"
                          .formatted(namespace, name, writer)
                      + " it, or set internalCertManagement.enable to false and let that go on"
                      + " (docs/switching.md)");
            });
  }

  /**
   * Who else writes a Secret with a serving certificate: cert-manager, which says so, or somebody
   * who keeps the key of the authority to himself. Every operator of the API writes that, too.
   */
  public static Optional<String> otherWriter(Secret secret) {
    var annotations = secret.getMetadata().getAnnotations();
    String certificate = annotations == null ? null : annotations.get(CERTIFICATE);
    if (certificate != null) {
      return Optional.of("cert-manager for Certificate " + certificate);
    }
    var data = secret.getData() == null ? Map.<String, String>of() : secret.getData();
    boolean isOther =
        !data.getOrDefault(ServingSecret.CERTIFICATE, "").isEmpty()
            && !data.containsKey(ServingSecret.CA_KEY)
            && !ProductLabel.isOn(secret);
    return isOther
        ? Optional.of("somebody who keeps the key of its authority (it has no ca.key)")
        : Optional.empty();
  }

  @Override
  public boolean write(Map<String, byte[]> data, Optional<String> version) {
    Map<String, String> encoded = new HashMap<>();
    data.forEach((key, value) -> encoded.put(key, Base64.getEncoder().encodeToString(value)));
    allowed.run();
    try {
      if (version.isEmpty()) {
        client.resource(created(encoded)).create();
      } else {
        replace(encoded, version.get());
      }
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT
          || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND && version.isPresent()) {
        return false;
      }
      throw e;
    }
  }

  private Secret created(Map<String, String> data) {
    return new SecretBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .addToLabels(ProductLabel.KEY, ProductLabel.VALUE)
        .endMetadata()
        .withType("Opaque")
        .withData(data)
        .build();
  }

  private void replace(Map<String, String> data, String version) {
    Secret secret = client.secrets().inNamespace(namespace).withName(name).require();
    Secret changed =
        new SecretBuilder(secret)
            .editMetadata()
            .withResourceVersion(version)
            .endMetadata()
            .withData(data)
            .build();
    client.resource(changed).lockResourceVersion(version).update();
  }
}
