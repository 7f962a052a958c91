/** The golden vectors as types, and their file. vectors/README.md says what the fields mean. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export interface VectorLimit {
  readonly algorithm: 'fixed-window' | 'sliding-window-log' | 'token-bucket';
  readonly limit?: number;
  readonly windowMs?: number;
  readonly align?: 'clock' | 'first-request';
  readonly offsetMs?: number;
  readonly capacity?: number;
  readonly refillTokens?: number;
  readonly refillMs?: number;
  readonly mode: 'enforce' | 'shadow';
  readonly reserve?: { readonly low: number | string };
}
export type VectorLimits = Readonly<Record<string, VectorLimit>>;
/** `null` stands for Infinity. */
export type VectorNumber = number | null;
export interface VectorStatus {
  readonly allowed?: boolean;
  readonly remaining: number;
  readonly retryAfterMs?: VectorNumber;
  readonly resetAfterMs: VectorNumber;
  readonly moreAfterMs: VectorNumber;
}
export interface VectorStep {
  readonly at: number;
  readonly op: 'consume' | 'peek' | 'refund' | 'settle' | 'set';
  readonly subject: string;
  readonly cost?: number | Readonly<Record<string, number>> | undefined;
  readonly priority?: 'low';
  readonly of?: number;
  readonly limits?: VectorLimits;
  readonly expect: {
    readonly allowed?: boolean;
    readonly retryAfterMs?: VectorNumber;
    readonly limits: Readonly<Record<string, VectorStatus>>;
  };
}
export interface Vector {
  readonly name: string;
  readonly limits: VectorLimits;
  readonly steps: readonly VectorStep[];
}

/** All golden vectors. */
export function readVectors(): readonly Vector[] {
  // By the package's own name, so that sources and build find the same file.
  const path = createRequire(import.meta.url).resolve('@limiter/store-suite/vectors/basic.json');
  const { vectors } = JSON.parse(readFileSync(path, 'utf8')) as { readonly vectors: readonly Vector[] };
  return vectors;
}
