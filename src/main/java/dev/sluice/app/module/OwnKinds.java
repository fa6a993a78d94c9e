package dev.sluice.app.module;

import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Optional;

/** The kinds of this program alone, which a cluster may lack: Helm doesn't upgrade definitions. */
final class OwnKinds {

  private static final String API =
      "/apis/" + ApiVersions.SLUICE_GROUP + "/" + ApiVersions.SLUICE_VERSION;

  private OwnKinds() {}

  /** Why the first of some kinds that can't be read can't be; empty if all can. */
  static Optional<String> unreadable(KubernetesClient client, List<String> plurals) {
    for (String plural : plurals) {
      try {
        if (client.raw(API + "/" + plural + "?limit=1") == null) {
          return Optional.of(API + " has no " + plural + ": their definition isn't installed");
        }
      } catch (KubernetesClientException e) {
        if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
          return Optional.of("this operator may not list " + plural);
        }
      }
    }
    return Optional.empty();
  }
}
