/** In Redis or Valkey: REDIS_URL, or the one on this machine. */
import { redisStore } from '@limiter/redis';
import { Redis } from 'ioredis';
import { theProgram } from './the-program.js';

const redis = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379');
await theProgram(redisStore(redis));
redis.disconnect();
