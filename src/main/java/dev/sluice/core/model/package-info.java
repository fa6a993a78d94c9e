/**
 * The core's vocabulary: small immutable values for amounts, flavors, requests, quotas, facts,
 * decisions and explanations. Only plain values of the JDK may enter. What leaves are these values,
 * the words in which every other room speaks to the engine.
 */
@NullMarked
package dev.sluice.core.model;

import org.jspecify.annotations.NullMarked;
