package dev.sluice.api.conversion;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.conversion.HubConverter.ConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the API server's conversion reviews, which may be long lists: one object is in memory at
 * a time. Every review gets an answer: all its objects converted in the order they came, or, when
 * one of them can't be, a result that says so and names it.
 */
public final class ConversionWebhook {

  private static final Logger LOG = LoggerFactory.getLogger(ConversionWebhook.class);
  private static final String API_VERSION = "apiextensions.k8s.io/v1";
  private static final String KIND = "ConversionReview";
  private static final String OBJECTS = "objects";

  /**
   * Far more than a review of admission takes: an object that is stored must stay readable, since
   * one that isn't keeps all objects of its kind from being listed in another version.
   */
  private static final int MAX_DEPTH = 1000;

  private static final int LONGEST_TEXT = 8 * 1024 * 1024;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          // A table of names costs most where each name is another one, as strangers write them.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxStringLength(LONGEST_TEXT)
                  .maxNameLength(LONGEST_TEXT)
                  .build())
          .build();
  private static final ObjectMapper MAPPER =
      new ObjectMapper(JSON).disable(SerializationFeature.FLUSH_AFTER_WRITE_VALUE);

  private final HubConverter hubConverter;

  /** Makes an answerer that uses the given conversions. */
  public ConversionWebhook(HubConverter hubConverter) {
    this.hubConverter = hubConverter;
  }

  /** The text of a review, which can be read from its beginning any number of times. */
  @FunctionalInterface
  public interface Text {

    /** Reads from the beginning. */
    InputStream open();
  }

  /**
   * Looks through a review and keeps nothing of its objects.
   *
   * @throws IOException when the text is not JSON, or nested too deep
   * @throws IllegalArgumentException when it is JSON and of another kind
   */
  public Review read(Text text) throws IOException {
    Head head = new Head();
    try (JsonParser parser = JSON.createParser(text.open())) {
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        head.readReview(parser);
        if (parser.nextToken() != null) {
          throw new IllegalArgumentException("there is text after it");
        }
      }
    }
    if (!head.kind.equals(KIND)) {
      throw new IllegalArgumentException("kind must be " + KIND);
    }
    return new Review(text, head);
  }

  /** What stands in a review apart from its objects. */
  private static final class Head {

    private String apiVersion = "";
    private String kind = "";
    private String uid = "";
    private String desired = "";
    private boolean hasRequest;
    private boolean hasObjects;

    void readReview(JsonParser parser) throws IOException {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        JsonToken value = parser.nextToken();
        switch (field) {
          case "apiVersion" -> apiVersion = text(parser);
          case "kind" -> kind = text(parser);
          case "request" -> {
            once("request", hasRequest);
            hasRequest = true;
            if (value == JsonToken.START_OBJECT) {
              readRequest(parser);
            } else {
              parser.skipChildren();
            }
          }
          default -> parser.skipChildren();
        }
      }
    }

    private void readRequest(JsonParser parser) throws IOException {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        JsonToken value = parser.nextToken();
        switch (field) {
          case "uid" -> uid = text(parser);
          case "desiredAPIVersion" -> desired = text(parser);
          case OBJECTS -> {
            once(OBJECTS, hasObjects);
            hasObjects = value == JsonToken.START_ARRAY;
            parser.skipChildren();
          }
          default -> parser.skipChildren();
        }
      }
    }

    private static void once(String field, boolean before) {
      if (before) {
        throw new IllegalArgumentException(field + " is there twice");
      }
    }

    private static String text(JsonParser parser) throws IOException {
      String text = parser.currentToken() == JsonToken.VALUE_STRING ? parser.getText() : "";
      parser.skipChildren();
      return text;
    }

    void check() {
      if (!apiVersion.equals(API_VERSION)) {
        throw new ConversionException(
            "apiVersion and kind: \"%s %s\" is not understood; it must be %s %s"
                .formatted(apiVersion, kind, API_VERSION, KIND));
      }
      if (!hasObjects) {
        throw new ConversionException("request.objects: missing; it must be a list of objects");
      }
    }
  }

  /** A review whose answer can be written. */
  public final class Review {

    private final Text text;
    private final Head head;

    private Review(Text text, Head head) {
      this.text = text;
      this.head = head;
    }

    /**
     * Writes the answer, one object after the other. What is wrong with the review is part of the
     * answer: the result, which comes last, then says that it failed, and the objects before it
     * don't count.
     *
     * @throws IOException only when the stream does
     */
    public void writeAnswer(OutputStream out) throws IOException {
      try (JsonGenerator answer =
          JSON.createGenerator(out).disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)) {
        answer.writeStartObject();
        answer.writeStringField("apiVersion", API_VERSION);
        answer.writeStringField("kind", KIND);
        answer.writeObjectFieldStart("response");
        answer.writeStringField("uid", head.uid);
        answer.writeArrayFieldStart("convertedObjects");
        Optional<String> problem = writeObjects(answer);
        answer.writeEndArray();
        answer.writeObjectFieldStart("result");
        answer.writeStringField("status", problem.isEmpty() ? "Success" : "Failed");
        if (problem.isPresent()) {
          answer.writeStringField("message", problem.get());
        }
        answer.writeEndObject();
        answer.writeEndObject();
        answer.writeEndObject();
      }
    }

    private Optional<String> writeObjects(JsonGenerator answer) throws IOException {
      try (JsonParser parser = JSON.createParser(text.open())) {
        head.check();
        find(parser);
        for (int index = 0; parser.nextToken() != JsonToken.END_ARRAY; index++) {
          JsonNode object = read(parser, index);
          if (!(object instanceof ObjectNode valid)) {
            throw new ConversionException(
                "request.objects[%d]: %s, and must be an object"
                    .formatted(index, object.getNodeType().name().toLowerCase(Locale.ROOT)));
          }
          MAPPER.writeTree(answer, converted(valid, head.desired));
        }
        return Optional.empty();
      } catch (ConversionException e) {
        return Optional.of(String.valueOf(e.getMessage()));
      }
    }

    /** Reads what the first look skipped, such as a text that is too long. */
    private static JsonNode read(JsonParser parser, int index) throws IOException {
      try {
        return MAPPER.readTree(parser);
      } catch (JsonProcessingException e) {
        throw new ConversionException(
            "request.objects[%d]: %s".formatted(index, e.getOriginalMessage()));
      }
    }

    /** Goes to the list of objects. */
    private void find(JsonParser parser) throws IOException {
      parser.nextToken();
      enter(parser, "request");
      enter(parser, OBJECTS);
    }

    private void enter(JsonParser parser, String wanted) throws IOException {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        parser.nextToken();
        if (field.equals(wanted)) {
          return;
        }
        parser.skipChildren();
      }
    }
  }

  private ObjectNode converted(ObjectNode object, String apiVersion) {
    try {
      return hubConverter.convert(object, apiVersion);
    } catch (ConversionException e) {
      throw new ConversionException(name(object) + ": " + e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("object={} conversion to={} failed", name(object), apiVersion, e);
      throw new ConversionException(
          "%s: conversion to %s failed: %s".formatted(name(object), apiVersion, e));
    }
  }

  private static String name(ObjectNode object) {
    JsonNode metadata = object.path("metadata");
    String namespace = metadata.path("namespace").asText("");
    return "%s %s%s"
        .formatted(
            object.path("kind").asText("object"),
            namespace.isEmpty() ? "" : namespace + "/",
            metadata.path("name").asText(metadata.path("generateName").asText("without name")));
  }
}
