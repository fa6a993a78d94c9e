/**
 * The version of the API that is stored and that the operator works with: one type per kind, and a
 * record for each part. JSON as the API server sends it enters; an absent list, map or default
 * reads as the schemas of the files in {@code crds} say. Values leave.
 */
@NullMarked
package dev.sluice.api.v1beta2;

import org.jspecify.annotations.NullMarked;
