/**
 * Kinds of the API that are alpha and off by default: one type per kind, and a record for each part
 * (docs/dynamic-quota.md). JSON as the API server sends it enters; an absent list or map is empty.
 */
@NullMarked
package dev.sluice.api.v1alpha1;

import org.jspecify.annotations.NullMarked;
