package dev.sluice.kube.client;

/** Reads from an API server with the permissions of a user. */
public interface ApiReader extends AutoCloseable {

  /**
   * The JSON text at a path, such as {@code /apis/batch/v1/jobs?limit=1}.
   *
   * @throws io.fabric8.kubernetes.client.KubernetesClientException when the API server refuses the
   *     request (its code is that of HTTP; 404 if there is no such object) or gives no answer
   */
  String get(String path);

  @Override
  void close();
}
