package dev.sluice.kube.reflect;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.io.IOException;

/**
 * Has objects read so that reading never fails: in place of an object that can't be read there is
 * an empty one with {@link UnreadableMetadata} metadata, and the fault is reported. One object that
 * somebody wrote must not end the watch of all objects of its kind.
 */
public final class TolerantDeserializers {

  /** The API server takes objects up to a depth of 10,000. */
  private static final int DEEPEST = 12_000;

  private static final int LONGEST_NUMBER = 100_000;
  private static final int LONGEST_NAME = 4_000_000;

  private TolerantDeserializers() {}

  /** Reads any JSON that the API server can store. */
  public static JsonFactory json() {
    return JsonFactory.builder()
        .streamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(DEEPEST)
                .maxNumberLength(LONGEST_NUMBER)
                .maxNameLength(LONGEST_NAME)
                .build())
        .build();
  }

  /** Guards every kind that {@code mapper} reads by itself. */
  public static void guard(ObjectMapper mapper, ReadErrorLog errors) {
    errors.reportedBy(mapper);
    mapper.registerModule(
        new SimpleModule("guarded-reading")
            .setDeserializerModifier(
                new BeanDeserializerModifier() {
                  private static final long serialVersionUID = 1L;

                  @Override
                  public JsonDeserializer<?> modifyDeserializer(
                      DeserializationConfig config,
                      BeanDescription description,
                      JsonDeserializer<?> deserializer) {
                    Class<?> type = description.getBeanClass();
                    return HasMetadata.class.isAssignableFrom(type)
                        ? new Guarded(deserializer, type)
                        : deserializer;
                  }
                }));
  }

  /** Stands before the reader of a kind. */
  private static final class Guarded extends DelegatingDeserializer {

    private static final long serialVersionUID = 1L;

    private final Class<?> type;

    Guarded(JsonDeserializer<?> behind, Class<?> type) {
      super(behind);
      this.type = type;
    }

    @Override
    protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> behind) {
      return new Guarded(behind, type);
    }

    @Override
    public Object deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      try (TokenBuffer buffer = withoutNulls(parser, context)) {
        try (JsonParser copy = buffer.asParserOnFirstToken()) {
          return complete(super.deserialize(copy, context));
        } catch (IOException | RuntimeException | StackOverflowError e) {
          JsonNode object = tree(buffer, context);
          ReadErrorLog.report(context, object, e);
          return instead(object, e);
        }
      }
    }

    private static Object complete(Object object) throws IOException {
      if (object instanceof HasMetadata read && read.getMetadata() == null) {
        throw new IOException("there is no metadata");
      }
      return object;
    }

    /** A copy of the value; null is nothing, as a field and in a list. */
    private static TokenBuffer withoutNulls(JsonParser from, DeserializationContext context)
        throws IOException {
      TokenBuffer copy = new TokenBuffer(from, context);
      int depth = 0;
      JsonToken token = from.currentToken();
      while (token != null) {
        if (token == JsonToken.FIELD_NAME) {
          String name = from.currentName();
          token = from.nextToken();
          if (token != JsonToken.VALUE_NULL) {
            copy.writeFieldName(name);
          }
        }
        if (token != JsonToken.VALUE_NULL) {
          copy.copyCurrentEvent(from);
        }
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        if (depth == 0) {
          break;
        }
        token = from.nextToken();
      }
      return copy;
    }

    private static JsonNode tree(TokenBuffer buffer, DeserializationContext context)
        throws IOException {
      try (JsonParser again = buffer.asParserOnFirstToken()) {
        JsonNode tree = context.readTree(again);
        return tree == null ? MissingNode.getInstance() : tree;
      }
    }

    private Object instead(JsonNode object, Throwable cause) throws IOException {
      try {
        HasMetadata empty = (HasMetadata) type.getDeclaredConstructor().newInstance();
        empty.setMetadata(UnreadableMetadata.of(object));
        return empty;
      } catch (ReflectiveOperationException | RuntimeException e) {
        throw new IOException(type + " can't be read, nor left empty", cause);
      }
    }
  }

  /**
   * The metadata of an object that could not be read: its identity and version, and nothing else.
   * Such an object takes its place in watches and lists, and nobody acts on it.
   */
  public static final class UnreadableMetadata extends ObjectMeta {

    private static final long serialVersionUID = 1L;

    /** What can be read of the metadata of {@code object}; what can't is empty. */
    public static UnreadableMetadata of(JsonNode object) {
      JsonNode from = object.path("metadata");
      UnreadableMetadata metadata = new UnreadableMetadata();
      metadata.setName(from.path("name").asText());
      if (from.path("namespace").isTextual()) {
        metadata.setNamespace(from.path("namespace").asText());
      }
      metadata.setUid(from.path("uid").asText());
      metadata.setResourceVersion(from.path("resourceVersion").asText());
      return metadata;
    }

    /** Whether this object stands for one that could not be read. */
    public static boolean is(HasMetadata object) {
      return object.getMetadata() instanceof UnreadableMetadata;
    }
  }
}
