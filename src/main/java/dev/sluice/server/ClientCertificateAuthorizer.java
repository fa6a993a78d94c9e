package dev.sluice.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.certificates.Pem;
import dev.sluice.server.RequestAuthorizer.Decision;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authentication.UserInfoBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.bouncycastle.asn1.ASN1String;
import org.bouncycastle.asn1.x500.AttributeTypeAndValue;
import org.bouncycastle.asn1.x500.RDN;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.style.BCStyle;

/**
 * Decides about clients by their certificate, as an API server does: an authority of the cluster
 * has to have signed it for clients, the common name is the user, the organizations are the groups.
 * The chain is judged for each request; what the user may do is asked through another authorizer.
 */
public final class ClientCertificateAuthorizer {

  private static final String AUTHENTICATED = "system:authenticated";

  /** Type of a key exchange; only the algorithms of the chain are judged. */
  private static final String ANY_KEY = "UNKNOWN";

  private final ClusterClientAuthorities authorities;
  private final RequestAuthorizer access;

  /**
   * Creates an authorizer.
   *
   * @param access decides about a user, which is passed as written by {@link #text}
   */
  public ClientCertificateAuthorizer(
      ClusterClientAuthorities authorities, RequestAuthorizer access) {
    this.authorities = authorities;
    this.access = access;
  }

  /**
   * Decides about a client.
   *
   * @param chain what the client presented, its own certificate first; not empty
   * @throws KubernetesClientException when the cluster can't be asked
   */
  public Decision decide(List<X509Certificate> chain) {
    Optional<UserInfo> user = isSigned(chain) ? user(chain.getFirst()) : Optional.empty();
    return user.map(known -> access.decide(text(known))).orElse(Decision.UNAUTHENTICATED);
  }

  private boolean isSigned(List<X509Certificate> chain) {
    try {
      trust(authorities.pem()).checkClientTrusted(chain.toArray(X509Certificate[]::new), ANY_KEY);
      return true;
    } catch (GeneralSecurityException | IllegalArgumentException notTrusted) {
      return false;
    }
  }

  private static X509ExtendedTrustManager trust(String pem) throws GeneralSecurityException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (X509Certificate each : Pem.certificates(pem)) {
        store.setCertificateEntry("authority-" + number++, each);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return Stream.of(factory.getTrustManagers())
          .filter(X509ExtendedTrustManager.class::isInstance)
          .map(X509ExtendedTrustManager.class::cast)
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new GeneralSecurityException(e);
    }
  }

  /** The user of a certificate; empty if it has no common name. */
  private static Optional<UserInfo> user(X509Certificate certificate) {
    String name = "";
    List<String> groups = new ArrayList<>();
    X500Name subject = X500Name.getInstance(certificate.getSubjectX500Principal().getEncoded());
    for (RDN part : subject.getRDNs()) {
      for (AttributeTypeAndValue value : part.getTypesAndValues()) {
        if (value.getType().equals(BCStyle.CN)) {
          name = string(value);
        } else if (value.getType().equals(BCStyle.O)) {
          groups.add(string(value));
        }
      }
    }
    if (name.isEmpty()) {
      return Optional.empty();
    }
    groups.add(AUTHENTICATED);
    return Optional.of(new UserInfoBuilder().withUsername(name).withGroups(groups).build());
  }

  private static String string(AttributeTypeAndValue value) {
    return value.getValue() instanceof ASN1String text ? text.getString() : "";
  }

  /** A user as text: the key of cached decisions. */
  static String text(UserInfo user) {
    ObjectNode text = JsonMappers.JSON.createObjectNode().put("user", user.getUsername());
    user.getGroups().forEach(text.withArray("groups")::add);
    return text.toString();
  }

  /** The user that {@link #text} wrote. */
  static UserInfo user(String text) {
    try {
      JsonNode user = JsonMappers.JSON.readTree(text);
      List<String> groups = new ArrayList<>();
      user.path("groups").forEach(group -> groups.add(group.asText()));
      return new UserInfoBuilder()
          .withUsername(user.path("user").asText())
          .withGroups(groups)
          .build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
