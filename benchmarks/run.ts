console.log('No benchmark has been written yet.');
