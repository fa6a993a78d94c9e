/**
 * The version of the API that is stored and that the operator works with: one type per kind, and a
 * record for each part. JSON as the API server sends it enters; an absent list, map or default
 * reads as the schema says. Values leave, and the schemas of the custom resource definitions are
 * generated from them.
 */
@NullMarked
package dev.sluice.api.v1beta2;

import org.jspecify.annotations.NullMarked;
