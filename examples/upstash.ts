/** In Upstash Redis, over HTTP: UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN. */
import { upstashStore } from '@limiter/upstash';
import { Redis } from '@upstash/redis';
import { theProgram } from './the-program.js';

await theProgram(upstashStore(Redis.fromEnv()));
