/**
 * JSON as the API server writes it: a token reader, merge patches (RFC 7396), and interning of
 * repeated text. Streams and trees enter; values and patches leave.
 */
@NullMarked
package dev.sluice.kube.json;

import org.jspecify.annotations.NullMarked;
