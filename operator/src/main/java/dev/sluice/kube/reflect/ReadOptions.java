package dev.sluice.kube.reflect;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * How much a {@link ListWatch} reads.
 *
 * @param mapper reads what is around the items of a list, and errors of a watch
 * @param pageSize the objects that one page of a listing is asked for
 * @param objectBytes the longest object that is read
 * @param listedBytes the most bytes of all objects of one listing
 * @param pages the most pages of one listing
 * @param silence a watch is late when it had no event for longer
 * @param pacing the body of an answer, read as fast as is allowed
 */
public record ReadOptions(
    ObjectMapper mapper,
    int pageSize,
    int objectBytes,
    long listedBytes,
    long pages,
    Duration silence,
    UnaryOperator<InputStream> pacing) {

  /** No limits: for the cluster that the process belongs to. */
  public static ReadOptions unlimited(ObjectMapper mapper, int pageSize, Duration silence) {
    return new ReadOptions(
        mapper,
        pageSize,
        Integer.MAX_VALUE,
        Long.MAX_VALUE,
        Long.MAX_VALUE,
        silence,
        UnaryOperator.identity());
  }
}
