package dev.sluice.kube.reflect;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.net.URLEncoder;
import java.time.InstantSource;
import java.util.random.RandomGenerator;

/**
 * Makes the reflectors of one cluster.
 *
 * @param client whose connections are used; stays the caller's
 * @param clock measures how long a watch is silent
 * @param random scatters pauses and the time of watches
 * @param errors receives objects that can't be parsed
 */
public record Reflectors(
    KubernetesClient client, InstantSource clock, RandomGenerator random, ReadErrorLog errors) {

  /** The objects of a collection that have this value of a label, as a path for {@link #of}. */
  public static String labeled(String collection, String label, String value) {
    return collection + "?labelSelector=" + URLEncoder.encode(label + "=" + value, UTF_8);
  }

  /**
   * A reflector that is not started.
   *
   * @param name for the log
   * @param path the collection, and what is selected of it, such as {@code
   *     api/v1/pods?fieldSelector=spec.nodeName%21%3D}; a slash may come before it
   * @param sink keeps the objects
   */
  public <T> Reflector<T> of(String name, String path, Reflector.Sink<T> sink) {
    return new Reflector<>(name, path.startsWith("/") ? path.substring(1) : path, sink, this);
  }
}
