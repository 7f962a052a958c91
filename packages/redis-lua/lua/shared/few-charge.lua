-- Writes one charge of a step.
call('SET', keys[place], bucket and pack('<I2ddddd', 513, now, b, d, c, e) or pack('<I2ddd', 513, a, b, c), 'KEEPTTL')
